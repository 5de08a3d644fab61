#!/bin/sh
# Checks that a log is played under every preset, each with a state of its own, and that README.md names them all:
# check_presets.sh REPLAY
set -eu

replay=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$(dirname "$0")/sample.jsonl

presets=$("$replay" --help | sed -n 's/.*--policies.*{\([a-z0-9_,]*\)}.*/\1/p' | tr , ' ')
count=0
for preset in $presets; do
    "$replay" --policies "$preset" --stake-cap 500 --quiet "$log" >"$work/$preset"
    grep -q '"state_root"' "$work/$preset"
    if ! grep -q "^| \`$preset\` |" "$(dirname "$0")/README.md"; then
        echo "README.md does not tell of $preset" >&2
        exit 1
    fi
    count=$((count + 1))
done
if [ "$count" -lt 6 ] || [ "$(cat "$work"/* | sort -u | wc -l)" != "$count" ]; then
    echo "of $count presets, not all lead to a state of their own" >&2
    exit 1
fi
if "$replay" --policies hardened --quiet "$log" >"$work/out" 2>&1 || ! grep -q 'needs --stake-cap' "$work/out"; then
    echo "hardened was played without --stake-cap: $(cat "$work/out")" >&2
    exit 1
fi
