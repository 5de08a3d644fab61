#!/bin/sh
# Prints the figures of the service as `name  figure  goal  ok|short`, medians of five turns. Debian 12: it installs what
# is missing, builds, and starts everything itself: single nodes, SQLite, PostgreSQL, three members of etcd, three
# replicas.
#
#     sh benchmarks/service/run.sh            everything: half an hour
#     sh benchmarks/service/run.sh --short    one turn of a second each: two minutes
#     sh benchmarks/service/run.sh --only cluster
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=../../tests/support/debian.sh
. tests/support/debian.sh
need_for library build examples service cluster tables

build=build/service-figures
mkdir -p "$build"
echo "run.sh: building, which takes minutes the first time" >&2
if ! {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
        -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=ON -DALLOT_BUILD_BENCHMARKS=ON -DALLOT_INSTALL=OFF \
        -DALLOT_SERVICE_PRESETS=plain &&
    cmake --build "$build" --target allotd load tables raw_etcd --parallel "$(cores)"
} > "$build.log" 2>&1; then
    cat "$build.log" >&2
    exit 1
fi
exec python3 benchmarks/service/figures.py --bin "$build/examples" --bin "$build/benchmarks/service" "$@"
