#!/bin/sh
# Runs the blocks of README.md and compares the output: check_readme.sh REPLAY [--write]
#
# See tests/support/check_page.sh, which writes the output into README.md, too.
set -eu

replay=$(realpath "$1")
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v python3 > /dev/null; then
    echo "there is no python3 here, which README.md shows a program in" >&2
    exit 77
fi
sh "$here/../../tests/support/check_page.sh" "$here/README.md" "$replay" ${2:+"$2"} "$here/sample.jsonl"

# README.md must have a line for every command, and name the fields of nodes and tasks there.
echo '{"time": 0, "command": ""}' | "$replay" 2>&1 | sed 's/.*there are //' | tr -d ' ' | tr , '\n' > "$work/commands"
[ "$(wc -l < "$work/commands")" -ge 20 ]
while read -r command; do
    if ! grep -q "^| .*\`$command\`.* |" "$here/README.md"; then
        echo "README.md does not tell of $command" >&2
        exit 1
    fi
done < "$work/commands"

for subject in Join.node Update.change Submit.task; do
    command=${subject%.*}
    echo "{\"time\": 0, \"command\": \"$command\", \"${subject#*.}\": {\"id\": 1, \"?\": 0}}" | "$replay" 2>&1 |
        sed 's/.*there are //' | tr -d ' ' | tr , '\n' > "$work/fields"
    [ "$(wc -l < "$work/fields")" -ge 5 ]
    while read -r field; do
        if ! grep "^| \`$command\` |" "$here/README.md" | grep -q "\`$field\`"; then
            echo "README.md does not tell of $field in $command" >&2
            exit 1
        fi
    done < "$work/fields"
done
