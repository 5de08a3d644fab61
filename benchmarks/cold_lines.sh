#!/bin/sh
# Counts the cache lines that a pair of commands, complete and submit, reads or writes while they are in no cache, by structure,
# and compares them with cold_lines.txt, where they are kept by compiler, standard library and Boost version. They are counted by
# a model of two caches (support/memory_watch.cpp), so neighbours do not bend them, and two runs agree to the line.
#
#     sh benchmarks/cold_lines.sh              at 100,000 nodes, with caches a tenth as large: a minute. Fails when a count is more
#                                              than 5 % off
#     sh benchmarks/cold_lines.sh --full       at 1,000,000 nodes: three minutes and 1 GB
#     sh benchmarks/cold_lines.sh --write      writes the counts down instead; also --full --write
#     sh benchmarks/cold_lines.sh --goals      only: the counts of all structures at 1,000,000 nodes with their goals, as lines for
#                                              `figures --given`
#
# CXX chooses the compiler, BUILD the folder to build in.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh
nodes=100000
mode=compare
for argument in "$@"; do
    case $argument in
        --full) nodes=1000000 ;;
        --write) mode=write ;;
        --goals) nodes=1000000 mode=goals ;;
        *) echo "unknown: $argument" >&2; exit 2 ;;
    esac
done
book=benchmarks/cold_lines.txt
build=${BUILD:-build/benchmarks-$(basename "${CXX:-g++}")}
{
    need_for library build benchmarks
    [ -e "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
        -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=OFF -DALLOT_BUILD_BENCHMARKS=ON
    cmake --build "$build" --target cold_lines --parallel "$(cores)"
} >&2
program=$build/benchmarks/cold_lines

counted=$(mktemp)
trap 'rm -f "$counted"' EXIT

if [ "$mode" = goals ]; then
    "$program" "$nodes" > "$counted"
    awk -F '\t' '
        function goal(workload, must, aim) {
            printf "cold lines a pair, %s\t%s\t%s\t<=\t \n", workload, all[workload], must
            printf "cold lines a pair, %s, aim\t%s\t%s\t<=\t \n", workload, all[workload], aim
        }
        $2 == "all" { all[$1] = $3 }
        END {
            goal("idle", 18, 16)
            goal("saturated, ValueQueue", 34, 32)
            goal("saturated, FlatQueue", 24, 22)
        }' "$counted"
    exit 0
fi

key="$("$program" --key)	$nodes"
if [ "$mode" != write ] && ! { [ -e "$book" ] && grep -q "^$key	" "$book"; }; then
    echo "############################################################################################"
    echo "# No cold lines are kept for $key: nothing was compared."
    echo "# Count them where the code is known to be good: sh benchmarks/cold_lines.sh --write"
    echo "############################################################################################"
    exit 0
fi
"$program" "$nodes" | sed "s/^/$key	/" > "$counted"

if [ "$mode" = write ]; then
    { grep -v "^$key	" "$book" 2> /dev/null || true; cat "$counted"; } | sort > "$book.new"
    mv "$book.new" "$book"
fi
# A twentieth of a line is allowed as well: structures that are nearly always warm have no steady count.
awk -F '\t' -v mode="$mode" '
    { name = $1 FS $2 FS $3 FS $4 }
    FILENAME == ARGV[1] { kept[name] = $5; next }
    { counted[name] = 1; told = $3 ": " $4 " " $5 }
    mode == "write" { print told; next }
    !(name in kept) { print told ", none are kept: NOT KEPT YET"; bad = 1; next }
    { apart = $5 - kept[name]; apart = apart < 0 ? -apart : apart }
    apart > kept[name] * 0.05 + 0.05 { print told ", but " kept[name] " are kept: MORE THAN 5 % APART"; bad = 1; next }
    { print told ", " kept[name] " are kept: ok" }
    END {
        if (bad) { print "When that was meant: sh benchmarks/cold_lines.sh --write" }
        exit bad
    }' "$book" "$counted"
