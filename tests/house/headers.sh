# headers.sh [--strict] <include folder> <tests folder>
#
# Says which header lacks what a reader expects: `#pragma once` on top, a doc block for each name outside detail/, a test
# of the same path (or a line in exempt.txt with the reason), at most 400 lines. Only --strict makes that a failure.
set -eu
strict=no
if [ "$1" = --strict ]; then
    strict=yes
    shift
fi
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
        awk -v file="$name" '
            NR == 1 && $0 != "#pragma once" { printf "%s:1: the first line is not #pragma once\n", file }
            /^[ \t]*\/\/\// { documented = 1 }
            # What stands at the left margin after an empty line is a name of the namespace.
            before == ""  \
                    && /^(template|struct|class|enum|union|concept|using|inline|constexpr|consteval|auto|\[\[nodiscard)/ \
                    && $0 !~ /^(struct|class|enum)[^{]*;/ && $0 !~ /\/\/\/</ {
                printf "%s:%d: not documented: %s\n", file, NR, $0
            }
            { before = $0; gsub(/[ \t]/, "", before) }
            END {
                if (!documented) printf "%s: no doc block\n", file
                if (NR > 400) printf "%s: %d lines, more than 400\n", file, NR
            }' "$file"
    done
)
if [ -n "$faults" ]; then
    printf '%s\n' "$faults"
    [ "$strict" = no ]
fi
