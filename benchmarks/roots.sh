#!/bin/sh
# Counts the compressions of SHA-256 that a state root costs, with callgrind: a root asked after each command, and after every 4,096
# commands, beside so many nodes and tasks (default 10,000). Fails above 80 a command and above 50. Then the same for the root of
# 1,000 and of 50,000 client sessions after each request. Fails above 30.
#
#     sh benchmarks/roots.sh [NODES]
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh
nodes=${1:-10000}
build=${BUILD:-build/benchmarks-$(basename "${CXX:-g++}")}
{
    need_for library build benchmarks
    [ -e "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-g++}" \
        -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DALLOT_BUILD_TESTS=OFF -DALLOT_BUILD_EXAMPLES=OFF -DALLOT_BUILD_BENCHMARKS=ON
    cmake --build "$build" --target snapshots sessions --parallel "$(cores)"
} >&2

# calls <program> <argument>...: compressions in the whole run; four messages in step count as four.
calls() {
    out=$(mktemp)
    valgrind --tool=callgrind --callgrind-out-file="$out" "$build/benchmarks/$@" > /dev/null 2>&1
    awk '
        /^c?fn=/ {
            split($0, part, /[()]/)
            if (index($0, ") ")) counts_as[part[2]] = ($0 !~ /sha256_compress</) ? 0 : /LaneWords/ ? 4 : 1
            if (/^cfn=/) count = counts_as[part[2]]
        }
        /^calls=/ { split(substr($0, 7), n, " "); sum += count * n[1]; count = 0 }
        END { print sum + 0 }' "$out"
    rm -f "$out"
}
bad=0
# told <what> <compressions> <number> <goal>
told() {
    cost=$(($2 * 10 / $3))
    verdict=ok
    if [ "$cost" -gt $(($4 * 10)) ] || [ "$cost" -eq 0 ]; then verdict=short bad=1; fi
    echo "$1: $((cost / 10)).$((cost % 10)) compressions, goal $4: $verdict"
}
none=$(calls snapshots --roots "$nodes" 0)
for case in '1 80' '4096 50'; do
    # shellcheck disable=SC2086  # two words
    set -- $case
    told "a command, with a root every $1, beside $nodes nodes" $(($(calls snapshots --roots "$nodes" "$1") - none)) 4096 "$2"
done
for sessions in 1000 50000; do
    told "a request and a root, beside $sessions sessions" \
        $(($(calls sessions $sessions 4096) - $(calls sessions $sessions 0))) 4096 30
done
exit $bad
