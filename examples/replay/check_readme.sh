#!/bin/sh
# Runs the blocks of README.md and compares the output: check_readme.sh REPLAY [--write]
#
# See tests/support/run_blocks.sh for the blocks that are run. --write writes the output into README.md.
set -eu

replay=$(realpath "$1")
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/play"
ln -s "$replay" "$work/bin/replay"
cp "$here/sample.jsonl" "$work/play"
PATH=$work/bin:$PATH

if ! command -v python3 > /dev/null; then
    echo "there is no python3 here, which README.md shows a program in" >&2
    exit 77
fi

(cd "$work/play" && sh "$here/../../tests/support/run_blocks.sh" "$here/README.md" "$work/README.md")

if [ "${2:-}" = --write ]; then
    cp "$work/README.md" "$here/README.md"
elif ! diff -u "$here/README.md" "$work/README.md"; then
    echo "README.md shows what does not come of it; if it should, run check_readme.sh --write" >&2
    exit 1
fi

# README.md must have a line for every command, and name the fields of nodes and tasks there.
echo '{"time": 0, "command": ""}' | replay 2>&1 | sed 's/.*there are //' | tr -d ' ' | tr , '\n' > "$work/commands"
[ "$(wc -l < "$work/commands")" -ge 20 ]
while read -r command; do
    if ! grep -q "^| .*\`$command\`.* |" "$here/README.md"; then
        echo "README.md does not tell of $command" >&2
        exit 1
    fi
done < "$work/commands"

for subject in Join.node Update.change Submit.task; do
    command=${subject%.*}
    echo "{\"time\": 0, \"command\": \"$command\", \"${subject#*.}\": {\"id\": 1, \"?\": 0}}" | replay 2>&1 |
        sed 's/.*there are //' | tr -d ' ' | tr , '\n' > "$work/fields"
    [ "$(wc -l < "$work/fields")" -ge 5 ]
    while read -r field; do
        if ! grep "^| \`$command\` |" "$here/README.md" | grep -q "\`$field\`"; then
            echo "README.md does not tell of $field in $command" >&2
            exit 1
        fi
    done < "$work/fields"
done
