#!/bin/sh
# Installs what is missing, builds examples/simulate and runs the bundled trace.
# Debian 12, Ubuntu 22.04 or later. Arguments go on to simulate: sh examples/run.sh --short
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$root/build/examples

# Each line: a package, and a file that shows it is there.
missing=
while read -r package file; do
    [ -e "$file" ] || missing="$missing $package"
done <<'PACKAGES'
cmake /usr/bin/cmake
g++ /usr/bin/g++
make /usr/bin/make
libboost-dev /usr/include/boost/version.hpp
libexpected-dev /usr/include/tl/expected.hpp
libfmt-dev /usr/include/fmt/format.h
libcli11-dev /usr/include/CLI/CLI.hpp
nlohmann-json3-dev /usr/include/nlohmann/json.hpp
libjs-chart.js /usr/share/javascript/chart.js
PACKAGES

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "run.sh: this machine has no apt-get; please install what these packages hold:$missing" >&2
        exit 1
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        if ! command -v sudo >/dev/null; then
            echo "run.sh: run as root, or install first: apt-get install$missing" >&2
            exit 1
        fi
    fi
    echo "run.sh: installing$missing" >&2
    $as_root apt-get update -q >&2
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
fi

log=$build/build.log
mkdir -p "$build"
echo "run.sh: building, which takes a minute the first time" >&2
if ! {
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DALLOT_BUILD_EXAMPLES=ON -DALLOT_BUILD_TESTS=OFF \
        -DALLOT_BUILD_BENCHMARKS=OFF -DALLOT_INSTALL=OFF &&
    cmake --build "$build" --target simulate
} >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi

exec "$build/examples/simulate" "$@"
