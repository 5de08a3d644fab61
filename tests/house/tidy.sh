#!/bin/sh
# clang-tidy 14 with .clang-tidy finds nothing in a header.
#
#     sh tests/house/tidy.sh               all headers, in seven runs of about a minute each
#     sh tests/house/tidy.sh --recent [S]  those changed in the last 20 commits, latest first, for S seconds at most (60); names
#                                          the ones that were not looked at. Each of them compiles alone, too, by g++
set -eu
cd "$(dirname "$0")/../.."
. tests/support/debian.sh
need_for library style

# tidy <header or source>: fails when something is found in a header of ours.
tidy() {
    clang-tidy-14 --quiet "$1" -- -x c++ -std=c++20 -Iinclude -Itests 2>/dev/null | grep -E '(warning|error):' | sort -u > "$found" || true
    grep -E '/include/allot/|^include/allot/' "$found" > "$found.ours" || true
    cat "$found.ours"
    [ ! -s "$found.ours" ]
}
found=$(mktemp)
trap 'rm -f "$found" "$found.ours"' EXIT
status=0

if [ "${1:-}" = --recent ]; then
    limit=${2:-60}
    left=
    recent=$(git log -20 --format= --name-only -- include | awk '!seen[$0]++' | while read -r header; do
        [ ! -f "$header" ] || echo "$header"
    done)
    printf '%s\n' "$recent" | sed -n 's/..*/#include "&"/p' | xargs -r -d '\n' -P "$(cores)" -I '{}' sh -c \
        'echo "$1" | g++ -std=c++20 -fsyntax-only -I. -Iinclude -x c++ -' sh '{}' || status=1
    began=$(date +%s)
    for header in $recent; do
        if [ $(($(date +%s) - began)) -ge "$limit" ]; then
            left="$left $header"
            continue
        fi
        tidy "$header" || status=1
    done
    for header in $left; do
        echo "not looked at, for the time was up: $header"
    done
    exit $status
fi
for source in tests/odr.cpp include/allot/laws.hpp include/allot/json.hpp include/allot/preset/hardened.hpp \
    include/allot/preset/crynux_relay_2026.hpp include/allot/preset/crynux_contracts.hpp include/allot/preset/crynux_trio.hpp; do
    echo "== $source"
    tidy "$source" || status=1
done
exit $status
