#!/bin/sh
# Pages and code say the same: docs/events.md has the table of core/event.hpp, README.md has examples/quickstart.cpp, and
# docs/support.md names as many scenarios as golden.txt has digests. README.md stays short, and its links lead somewhere.
#
#     sh tests/house/readme.sh             compares
#     sh tests/house/readme.sh --write     writes the table, the program and the number into the pages
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/docs"

{
    echo '| event | what happened | cause | for | fields |'
    echo '|---|---|---|---|---|'
    awk -f "$here/events.awk" "$top/include/allot/core/event.hpp"
} > "$work/events"
{
    echo '```cpp'
    cat "$top/examples/quickstart.cpp"
    echo '```'
} > "$work/quickstart"

# Replaces what stands between <!-- name --> and <!-- /name -->.
fill() {
    awk -v name="$1" -v file="$work/$1" '
        $0 == "<!-- " name " -->" { found = 1; print; while ((getline line < file) > 0) print line; skip = 1; next }
        $0 == "<!-- /" name " -->" { skip = 0 }
        !skip
        END { if (!found) { print FILENAME " has no place for " name > "/dev/stderr"; exit 1 } }' "$2"
}
fill events "$top/docs/events.md" > "$work/docs/events.md"
fill quickstart "$top/README.md" > "$work/README.md"
scenarios=$(($(grep -c '^full ' "$top/tests/determinism/golden.txt") - 1))  # the last digest is of all
sed "s/runs [0-9]* scenarios of/runs $scenarios scenarios of/" "$top/docs/support.md" > "$work/docs/support.md"
grep -q "runs $scenarios scenarios of" "$work/docs/support.md" || { echo "docs/support.md does not say how many scenarios run" >&2; exit 1; }

status=0
for page in README.md docs/events.md docs/support.md; do
    if [ "${1:-}" = --write ]; then
        cp "$work/$page" "$top/$page"
    elif ! diff -u "$top/$page" "$work/$page"; then
        echo "$page and the code differ: run sh tests/house/readme.sh --write" >&2
        status=1
    fi
done
sh "$here/pages.sh" "$top" || status=1
exit $status
