#!/bin/sh
# Installs what is missing, builds, and prints each figure as `name  ratio  goal  ok|short`; writes benchmarks/ratios.json.
#
#     sh benchmarks/run.sh              everything, at a million nodes and tasks: ten minutes and 6 GB
#     sh benchmarks/run.sh --short      a tenth of that size, fewer turns: within three minutes
#     sh benchmarks/run.sh --google [arguments of Google Benchmark]
#
# CXX chooses the compiler; ALLOT_JOBS how many at once. Further arguments go to `figures`.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh

need_for library build benchmarks

build=${BUILD:-build/benchmarks-$(basename "${CXX:-g++}")}
mkdir -p "$build"
show cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
    -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=OFF \
    -DALLOT_BUILD_BENCHMARKS=ON > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }

if [ "${1:-}" = --google ]; then
    shift
    cmake --build "$build" --target benchmarks --parallel "$(cores)"
    exec "$build/benchmarks/benchmarks" "$@"
fi

given=$(mktemp)
trap 'rm -f "$given"' EXIT
set_size=
turns=3
if [ "${1:-}" = --short ]; then
    set_size='--size 100000'
    turns=1
fi
cmake --build "$build" --target figures --parallel "$(cores)"
sh benchmarks/compile_time/measure.sh "$turns" > "$given"
if [ "${1:-}" != --short ]; then
    BUILD=$build sh benchmarks/instructions.sh --growth >> "$given"
    BUILD=$build sh benchmarks/instructions.sh --goals >> "$given"
    BUILD=$build sh benchmarks/cold_lines.sh --goals >> "$given"
    case $(uname -m) in
        x86_64)
            if grep -q avx2 /proc/cpuinfo; then
                cmake --build "$build" --target figures_v3 --parallel "$(cores)"
                "$build/benchmarks/figures_v3" --lines "$given.v3"
                cat "$given.v3" >> "$given"
                rm -f "$given.v3"
            fi
            ;;
    esac
fi
# shellcheck disable=SC2086  # two words or none
"$build/benchmarks/figures" $set_size --given "$given" --json benchmarks/ratios.json --growth benchmarks/growth "$@"
