#!/bin/sh
# Counts the compressions of SHA-256 that a state root costs, with callgrind: a root asked after each command, and after every 4,096
# commands, beside so many nodes and tasks (default 10,000). Fails above 80 a command and above 50.
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
    cmake --build "$build" --target snapshots --parallel "$(cores)"
} >&2
program=$build/benchmarks/snapshots

# calls <nodes> <ask>: calls of Sha256::compress in the whole run; 0 asks for no root.
calls() {
    out=$(mktemp)
    valgrind --tool=callgrind --callgrind-out-file="$out" "$program" --roots "$1" "$2" > /dev/null 2>&1
    awk '
        /^cfn=/ {
            split($0, part, /[()]/)
            if (part[3] != "") is[part[2]] = (part[3] ~ /Sha256::compress/)
            counts = is[part[2]]
        }
        /^fn=/ {
            split($0, part, /[()]/)
            if (part[3] != "") is[part[2]] = (part[3] ~ /Sha256::compress/)
        }
        /^calls=/ && counts { split(substr($0, 7), n, " "); sum += n[1]; counts = 0 }
        END { print sum + 0 }' "$out"
    rm -f "$out"
}
none=$(calls "$nodes" 0)
bad=0
for case in '1 80' '4096 50'; do
    # shellcheck disable=SC2086  # two words
    set -- $case
    cost=$((($(calls "$nodes" "$1") - none) * 10 / 4096))
    verdict=ok
    [ "$cost" -le "$(($2 * 10))" ] || { verdict=short; bad=1; }
    echo "a root every $1 commands, $nodes nodes: $((cost / 10)).$((cost % 10)) compressions a command, goal $2: $verdict"
done
exit $bad
