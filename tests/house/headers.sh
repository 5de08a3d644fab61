# headers.sh <include folder> <tests folder>
#
# Fails on a header without `#pragma once` on top, and on one without a test: a test of the same path, or a line in
# exempt.txt that says which tests hold it. The doc blocks are prose.sh's, the number of lines is size.sh's.
set -eu
root=$1
tests=$2
here=$(dirname "$0")

faults=$(
    find "$root/allot" -name '*.hpp' | LC_ALL=C sort | while read -r file; do
        name=${file#"$root"/}
        inside=${name#allot/}
        if [ ! -f "$tests/${inside%.hpp}.cpp" ] && ! grep -q "^$inside " "$here/exempt.txt"; then
            echo "$name: no test tests/${inside%.hpp}.cpp, and no line in tests/house/exempt.txt"
        fi
        if [ "$(head -n 1 "$file")" != '#pragma once' ]; then echo "$name:1: the first line is not #pragma once"; fi
    done
)
if [ -n "$faults" ]; then
    printf '%s\n' "$faults"
    exit 1
fi
