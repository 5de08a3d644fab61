# issues.sh <list> <tests folder>
#
# Holds tests/issue/list.txt to what it says: each line is a number, a file that is there and (of a .cpp) carries the number as a tag,
# and a commit; and each such tag of a test case stands in the list with its file.
set -eu
list=$1
tests=$2
# `false` where all of the history is here to be asked: neither in a copy of the files alone, nor in a shallow clone.
history=$(git -C "$tests" rev-parse --is-shallow-repository 2> /dev/null || true)
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

# The suites that a test includes, whose test cases are its own.
suites() {
    sed -n "s|^#include \"\(.*\.ipp\)\".*|$tests/\1|p" "$tests/$1"
}

grep -v '^#' "$list" | grep -v '^$' | while read -r number file commit rest; do
    line="$number $file $commit"
    echo "$line" | grep -Eq '^[A-Z]+[0-9]+ [^ ]+ [0-9a-f]{7,40}$' && [ -z "$rest" ] ||
        echo "$list: \"$line $rest\" is not a number, a file and a commit"
    if [ ! -f "$tests/$file" ]; then
        echo "$list: $number names $file, which is not there"
    elif [ "${file%.cpp}" != "$file" ] && [ "${file#compile_fail/}" = "$file" ] &&
        ! grep -Fq "[$number]" "$tests/$file" && ! grep -Fq "[$number]" $(suites "$file") /dev/null; then
        echo "$list: no test case in $file has the tag [$number]"
    fi
    if [ "$history" = false ] && ! git -C "$tests" cat-file -e "$commit^{commit}" 2> /dev/null; then
        echo "$list: $number names the commit $commit, which is not there"
    fi
done > "$faults"

# Tags on a line by themselves count as well: the names of test cases are long.
(cd "$tests" && grep -rnoE '"(\[[^]"]+\])*\[[A-Z]{1,2}[0-9]+\](\[[^]"]+\])*"' --include='*.cpp' --include='*.ipp' .) |
    sed 's|^\./||' | while IFS=: read -r file _ tags; do
    for number in $(echo "$tags" | grep -oE '\[[A-Z]{1,2}[0-9]+\]' | tr -d '[]'); do
        case $file in
            *.ipp) grep -Eq "^$number " "$list" || echo "$file has a test of $number, which $list does not know" ;;
            *) grep -Eq "^$number $file " "$list" || echo "$file has a test of $number, which $list does not say" ;;
        esac
    done
done >> "$faults"

if [ -s "$faults" ]; then
    cat "$faults"
    exit 1
fi
