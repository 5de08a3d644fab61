#!/bin/sh
# What outsiders can make a command cost: runs the workloads of hostile.cpp, and prints `workload  figure  goal  ok|SHORT`.
#
#     sh benchmarks/hostile.sh             instructions a command at 10,000 nodes over those at 1,000, but for two slow workloads
#     sh benchmarks/hostile.sh --full      at 100,000 over 1,000; then growth in time, the worst command, and the heap afterwards
#     sh benchmarks/hostile.sh --policies  the figures of time and heap, for preset::Hardened and for a FlatQueue
#     sh benchmarks/hostile.sh --write     the first, and writes what is short of its goal into hostile.txt
#
# Fails when a figure is short of its goal. hostile.txt lists what was short before, with its figure: such a line is `noted`, and
# fails only when it grew by more than a tenth, one of time by more than a half. A line there that has become better is to be
# lowered or taken out.
#
# CXX chooses the compiler, BUILD the folder to build in.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh
mode=${1:-}
book=benchmarks/hostile.txt
build=${BUILD:-build/benchmarks-$(basename "${CXX:-g++}")}
{
    need_for library build benchmarks
    [ -e "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
        -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=OFF -DALLOT_BUILD_BENCHMARKS=ON
    targets=hostile
    [ "$mode" != --policies ] || targets='hostile_flat_queue hostile_hardened'
    cmake --build "$build" --target $targets --parallel "$(cores)"
} >&2
program=$build/benchmarks/hostile
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count <size>: one dump for each workload.
count() {
    valgrind --tool=callgrind --collect-atstart=no --instr-atstart=no --callgrind-out-file="$work/$1" \
        "$program" "$counted" "$1" > "$work/log$1" 2>&1 ||
        { cat "$work/log$1" >&2; return 1; }
}

# dumps <size>: workload, instructions a command.
dumps() {
    for dump in "$work/$1".*; do
        awk -F '\t' '
            /^desc: Trigger: Client Request: / { sub(/^desc: Trigger: Client Request: /, ""); name = $1; commands = $2 }
            /^summary: / { sub(/^summary: /, ""); printf "%s\t%.0f\n", name, $1 / commands; exit }' "$dump"
    done
}

small=1000
large=10000
counted=--instructions
[ "$mode" != --full ] || { large=100000; counted=--all-instructions; }
if [ "$mode" = --policies ]; then
    for victim in flat_queue hardened; do
        "${program}_$victim" --times "$small" 100000 | sed "s/^/$victim, /" >> "$work/figures"
    done
else
    count "$small" &
    count "$large"
    wait $!
    dumps "$small" | sort > "$work/small"
    dumps "$large" | sort > "$work/large"
    [ "$(wc -l < "$work/small")" -gt 1 ] || { echo "nothing was counted" >&2; exit 1; }
    join -t '	' "$work/small" "$work/large" | awk -F '\t' '{ printf "instructions: %s\t%.2f\t2\n", $1, $3 / $2 }' > "$work/figures"
fi
[ "$mode" != --full ] || "$program" --times "$small" "$large" >> "$work/figures"

if [ "$mode" = --write ]; then
    grep -v '^instructions: ' "$book" > "$work/book" || :  # those of the full form stay
    awk -F '\t' '$2 + 0 > $3 + 0 { print $1 "\t" $2 }' "$work/figures" | cat "$work/book" - > "$book"
fi
awk -F '\t' '
    FILENAME == ARGV[1] { noted[$1] = $2; next }
    $2 + 0 <= $3 + 0 { print $0 "\tok"; next }
    ($1 in noted) && $2 <= noted[$1] * ($1 ~ /^instructions: / ? 1.1 : 1.5) { print $0 "\tnoted"; next }
    { print $0 "\tSHORT"; bad = 1 }
    END { exit bad }' "$book" "$work/figures"
