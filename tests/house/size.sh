#!/bin/sh
# Lines of the library by room, and the longest headers.
#
#     sh tests/house/size.sh [--check]     with --check: fails when a header has over 500 lines
set -eu
cd "$(dirname "$0")/../../include/allot"

find . -name '*.hpp' | LC_ALL=C sort | while read -r file; do
    printf '%s %s\n' "$(wc -l < "$file")" "${file#./}"
done | awk -v check="${1:-}" '
    {
        room = $2
        sub(/\.hpp$/, "", room)
        if ($2 ~ /\//) sub(/\/.*/, "", room)
        lines[room] += $1
        files[room]++
        all += $1
        if (room !~ /^(job|validation|reward|estimate|laws|json|replica)$/) own += $1
        if ($1 > 500) {
            printf "%s: %d lines, more than 500\n", $2, $1
            long++
        }
        if ($1 > most) { most = $1; longest = $2 }
    }
    END {
        for (room in lines) printf "%6d lines %4d headers  %s\n", lines[room], files[room], room | "sort -k5"
        close("sort -k5")
        printf "%6d lines of all; the longest header is %s with %d\n", all, longest, most
        printf "%6d lines without job, validation, reward, estimate, laws, json and replica (goal: 17,500)\n", own
        if (check == "--check" && long) exit 1
    }'
