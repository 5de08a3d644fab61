# shown.sh <top folder>
#
# What the READMEs tell people to type is what tests/bare.sh does on a bare machine: it takes their blocks and has no copy of them.
# The README's first program needs the packages that the list names for the library, and no script has a list of its own.
set -eu
top=$1
bare=$top/tests/bare.sh
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

# holds <file> <regular expression>
holds() {
    grep -Eq -- "$2" "$top/$1" || echo "$1 has no line that matches: $2" >> "$faults"
}
holds README.md '^```sh$'
holds README.md '^g\+\+ -std=c\+\+20 .* examples/quickstart\.cpp .*$'
holds examples/replay/README.md '^    sh examples/build\.sh replay$'
holds examples/replay/README.md "^python3 - <<'PROGRAM'\$"
holds tests/bare.sh 'sh tests/support/run_blocks\.sh README\.md'
holds tests/bare.sh 'examples/replay/README\.md'
holds tests/bare.sh 'sh examples/replay/check_readme\.sh'
# shellcheck disable=SC2016  # a name in there
holds examples/replay/check_readme.sh 'tests/support/check_page\.sh" "\$here/README\.md"'
holds tests/support/check_page.sh 'run_blocks\.sh" '
holds .ci/run '^ *sh tests/bare\.sh'
for copy in 'g\+\+' 'python3 -' 'libboost'; do
    if grep -Eq "$copy" "$bare"; then
        echo "tests/bare.sh has a copy of what the READMEs or the list say: $copy" >> "$faults"
    fi
done

listed=$(sed -n 's/^library  *//p' "$top/tests/support/packages.txt")
named=$(sed -n 's/^apt-get update && apt-get install -y //p' "$top/README.md")
[ "$named" = "$listed" ] || echo "README.md names the packages \"$named\", tests/support/packages.txt \"$listed\"" >> "$faults"

(cd "$top" && find . -name '*.sh' ! -path './build/*' ! -path './tests/support/*' ! -path './tests/house/*' \
    -exec grep -nE 'lib(boost|expected|fmt|cli11)[^ ]*-dev|apt-get (-[^ ]* )*install' /dev/null {} +) >> "$faults" || true

if [ -s "$faults" ]; then
    cat "$faults"
    exit 1
fi
