#!/bin/sh
# README and code say the same: the table of events is the one of core/event.hpp, the first program is
# examples/quickstart.cpp, and there are so many scenarios as golden.txt has digests.
#
#     sh tests/house/readme.sh             compares
#     sh tests/house/readme.sh --write     writes the table and the program into README.md
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
        $0 == "<!-- " name " -->" { print; while ((getline line < file) > 0) print line; skip = 1; next }
        $0 == "<!-- /" name " -->" { skip = 0 }
        !skip' "$2"
}
fill events "$top/README.md" > "$work/half"
fill quickstart "$work/half" > "$work/most"
scenarios=$(($(grep -c '^full ' "$top/tests/determinism/golden.txt") - 1))  # the last digest is of all
sed "s/runs [0-9]* scenarios of/runs $scenarios scenarios of/" "$work/most" > "$work/README.md"

if [ "${1:-}" = --write ]; then
    cp "$work/README.md" "$top/README.md"
elif ! diff -u "$top/README.md" "$work/README.md"; then
    echo "README.md and the code differ: run sh tests/house/readme.sh --write" >&2
    exit 1
fi
