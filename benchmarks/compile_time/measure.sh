#!/bin/sh
# What it costs to compile a program that uses the library: processor time and memory at -O2, the best of so many turns.
#
#     sh benchmarks/compile_time/measure.sh [TURNS] > lines for `figures --given`
#
# The first program is that of README.md; a user's file links allot::compiled. The headers of Boost.MultiIndex are the yardstick.
# CXX chooses the compiler. What it needs beyond /usr/include goes to CXXFLAGS.
set -eu
cd "$(dirname "$0")"
turns=${1:-3}
export CCACHE_DISABLE=1

# cost <file>: hundredths of a second of user and system time, and the most memory in MB.
cost() {
    # shellcheck disable=SC2086  # several words
    python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round(100 * (used.ru_utime + used.ru_stime)), used.ru_maxrss // 1024)' \
        ${CXX:-g++} -std=c++20 -O2 -I../../include ${CXXFLAGS:-} -c "$1" -o /dev/null
}

turn=0
while [ "$turn" -lt "$turns" ]; do
    turn=$((turn + 1))
    for file in dispatcher.cpp multi_index.cpp compiled.cpp ../../examples/quickstart.cpp; do
        echo "$(basename "$file" .cpp) $(cost "$file")"
    done
done | awk '{
    if (!($1 in time) || $2 < time[$1]) time[$1] = $2
    if (!($1 in memory) || $3 < memory[$1]) memory[$1] = $3
} END {
    printf "compile time: allot.hpp and Dispatcher<> / MultiIndex headers\t%.2f\t5\t<=\n", time["dispatcher"] / time["multi_index"]
    printf "compile time: the first program of README.md, -O2\t%.2f\t12\t<=\ts\n", time["quickstart"] / 100
    printf "compile memory: the same\t%.2f\t0.7\t<=\tGB\n", memory["quickstart"] / 1000
    printf "compile time: a file that uses allot::compiled, -O2\t%.2f\t4\t<=\ts\n", time["compiled"] / 100
}'
