#!/bin/sh
# Installs what is missing, builds examples/jobs, starts a broker, and runs a job over it: several workers, one of which
# cheats, one is killed and one comes late. Debian 12, Ubuntu 22.04 or later. Ends by itself; the status says whether all
# went well. `sh examples/jobs/run.sh some/file` hashes that file instead of the bundled one.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
build=$root/build/examples
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"

boost=libboost-dev
[ ! -e /usr/include/boost/version.hpp ] || boost=
# shellcheck disable=SC2086  # empty when there is a Boost
need cmake g++ make $boost libexpected-dev libfmt-dev libcli11-dev nlohmann-json3-dev mosquitto libmosquitto-dev >&2

mkdir -p "$build"
echo "run.sh: building, which takes a minute the first time" >&2
if ! {
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DALLOT_BUILD_EXAMPLES=ON -DALLOT_BUILD_TESTS=OFF \
        -DALLOT_BUILD_BENCHMARKS=OFF -DALLOT_INSTALL=OFF &&
    cmake --build "$build" --target jobs
} > "$build/jobs.log" 2>&1; then
    cat "$build/jobs.log" >&2
    exit 1
fi

exec sh "$here/play.sh" "$build/examples/jobs" "${1:-$root/examples/data/openb_node_list_gpu_node.csv}"
