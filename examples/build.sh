#!/bin/sh
# Installs missing packages, builds one example, and prints its path: sh examples/build.sh replay
# Further arguments go to CMake: sh examples/build.sh allotd -DALLOT_SERVICE_PRESETS=plain
# Debian 12, Ubuntu 22.04 or later. The names are those of the files and folders in this folder.
set -eu

example=$1
shift
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$root/build/examples
# shellcheck source=../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for library build examples
case $example in
    allotd | follower | etcd_tail) need_for service ;;
    jobs) need_for jobs ;;
esac

mkdir -p "$build"
echo "build.sh: building $example, which takes some minutes the first time" >&2
if ! {
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
        -DALLOT_OPTIMISE_PROGRAMS=ON -DALLOT_BUILD_EXAMPLES=ON -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_BENCHMARKS=OFF -DALLOT_INSTALL=OFF "$@" &&
    cmake --build "$build" --target "$example" --parallel "$(cores)"
} > "$build/$example.log" 2>&1; then
    cat "$build/$example.log" >&2
    exit 1
fi
echo "$build/examples/$example"
