#!/bin/sh
# How long a program with the default dispatcher compiles, against one that only includes the headers of Boost.MultiIndex:
# processor time at -O2, the best of so many turns.
#
#     sh benchmarks/compile_time/measure.sh [TURNS] > lines for `figures --given`
#
# CXX chooses the compiler. What it needs beyond /usr/include goes to CXXFLAGS.
set -eu
cd "$(dirname "$0")"
turns=${1:-3}
export CCACHE_DISABLE=1

# cost <file>: hundredths of a second of user and system time.
cost() {
    # shellcheck disable=SC2086  # several words
    (
        ${CXX:-g++} -std=c++20 -O2 -I../../include ${CXXFLAGS:-} -c "$1" -o /dev/null
        times
    ) | tail -n 1 | awk '{
        sum = 0
        for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] }
        printf "%d\n", 100 * sum + 0.5
    }'
}

with=
without=
turn=0
while [ "$turn" -lt "$turns" ]; do
    turn=$((turn + 1))
    a=$(cost dispatcher.cpp)
    b=$(cost multi_index.cpp)
    { [ -n "$with" ] && [ "$with" -le "$a" ]; } || with=$a
    { [ -n "$without" ] && [ "$without" -le "$b" ]; } || without=$b
done
awk -v a="$with" -v b="$without" 'BEGIN {
    printf "compile time: allot.hpp and Dispatcher<> / MultiIndex headers\t%.2f\t5\t<=\n", a / b
    printf "compile time: allot.hpp and Dispatcher<>, -O2\t%.2f\t6\t<=\ts\n", a / 100
}'
