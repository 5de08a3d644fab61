#!/bin/sh
# Runs what a page shows: run_blocks.sh PAGE RESULT
#
# A block ```sh is run as it stands, in the folder that this is called in; the block ```json or ```text that follows it is what
# it has to write. RESULT is the page with what it wrote in place of that: where both are equal, the page is true.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v to="$work/block" '
    /^```sh$/ { count += 1; file = to count ".sh"; next }
    /^```/ { if (file != "") close(file); file = "" }
    file != "" { print > file }' "$1"
for block in "$work"/block*.sh; do
    sh "$block" > "${block%.sh}.out" < /dev/null || true
done
awk -v from="$work/block" '
    /^```sh$/ { count += 1; ran = 1 }
    ran && /^```(json|text)$/ {
        print
        while ((getline line < (from count ".out")) > 0) print line
        skip = 1
        ran = 0
        next
    }
    /^```$/ { skip = 0 }
    !skip' "$1" > "$2"
