#!/bin/sh
# Counts instructions an operation with callgrind, as the difference of two runs of different length in which only the timed
# stretches count, and compares them with
# instructions.txt, where they are kept by compiler, standard library and Boost version: unlike nanoseconds they hardly move on
# a busy machine.
#
#     sh benchmarks/instructions.sh              fails when a count grew or fell by more than 5 %
#     sh benchmarks/instructions.sh --write      writes them down instead
#     sh benchmarks/instructions.sh --growth     only: instructions a pair at 100,000 nodes over those at 1,000, as a line for
#                                                `figures --given`
#     sh benchmarks/instructions.sh --goals      only: instructions a pair with their goals, in the same form
#
# CXX chooses the compiler, BUILD the folder to build in.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh
mode=${1:-compare}
book=benchmarks/instructions.txt
build=${BUILD:-build/benchmarks-$(basename "${CXX:-g++}")}

{
    need_for library build benchmarks
    # A folder that run.sh configured stays as it is: another spelling of the compiler would make CMake forget the flags.
    [ -e "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
        -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=OFF -DALLOT_BUILD_BENCHMARKS=ON
    cmake --build "$build" --target instructions --parallel "$(cores)"
} >&2

program=$build/benchmarks/instructions

# run <name> <size> <operations>: instructions of the whole run.
run() {
    valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file=/dev/null "$program" "$@" 2>&1 | awk '/Collected/ { print $NF }'
}

# count <name> <size>: instructions an operation.
count() {
    short=$(run "$1" "$2" 1024)
    long=$(run "$1" "$2" 3072)
    echo $(((long - short) / 2048))
}

if [ "$mode" = --growth ]; then
    small=$(count dispatcher/idle/ValueQueue/one_by_one 1000)
    large=$(count dispatcher/idle/ValueQueue/one_by_one 100000)
    awk -v a="$large" -v b="$small" 'BEGIN {
        printf "whole, idle: instructions at 100,000 nodes / at 1,000\t%.2f\t1.2\t<=\n", a / b
    }'
    exit 0
fi

if [ "$mode" = --goals ]; then
    # goal <workload> <must> <aim>
    goal() {
        now=$(count "dispatcher/$1/ValueQueue/one_by_one" 10000)
        printf 'instructions a pair, %s\t%d\t%d\t<=\t \n' "$1" "$now" "$2"
        printf 'instructions a pair, %s, aim\t%d\t%d\t<=\t \n' "$1" "$now" "$3"
    }
    goal idle 6000 5000
    goal saturated 7500 6500
    exit 0
fi

key=$("$program" --key)
if [ "$mode" != --write ] && ! { [ -e "$book" ] && grep -q "^$key	" "$book"; }; then
    echo "############################################################################################"
    echo "# No instruction counts are kept for $key: nothing was compared."
    echo "# Count them where the code is known to be good: sh benchmarks/instructions.sh --write"
    echo "############################################################################################"
    exit 0
fi

failed=0
counted=$(mktemp)
trap 'rm -f "$counted"' EXIT
for name in pool/GpuGroupPool dispatcher/idle/ValueQueue/one_by_one dispatcher/idle/ValueQueue/span \
    dispatcher/saturated/ValueQueue/one_by_one dispatcher/saturated/FlatQueue/span queue/best/ValueQueue queue/best/FlatQueue; do
    now=$(count "$name" 10000)
    printf '%s\t%s\t%d\n' "$key" "$name" "$now" >> "$counted"
    was=$(awk -F '\t' -v key="$key" -v name="$name" '$1 == key && $2 == name { print $3 }' "$book" 2> /dev/null || true)
    if [ "$mode" = --write ]; then
        echo "$name $now (was ${was:-unknown})"
    elif [ -z "$was" ]; then
        echo "$name $now: NOT KEPT YET for $key"
    elif [ $((now * 100)) -gt $((was * 105)) ] || [ $((now * 100)) -lt $((was * 95)) ]; then
        echo "$name $now, but $was are kept: MORE THAN 5 % APART"
        failed=1
    else
        echo "$name $now, $was are kept: ok"
    fi
done

if [ "$mode" = --write ]; then
    { grep -v "^$key	" "$book" 2> /dev/null || true; cat "$counted"; } | sort > "$book.new"
    mv "$book.new" "$book"
elif [ $failed -ne 0 ]; then
    echo "When that was meant: sh benchmarks/instructions.sh --write"
fi
exit $failed
