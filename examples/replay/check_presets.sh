#!/bin/sh
# Checks that a log is played under every preset, and that presets decide differently: check_presets.sh REPLAY
set -eu

replay=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$(dirname "$0")/sample.jsonl

for preset in crynux_single crynux_trio crynux_contracts_1 crynux_contracts_2 crynux_relay_2026; do
    "$replay" --policies "$preset" --quiet "$log" >"$work/$preset"
    grep -q '"state_root"' "$work/$preset"
done
"$replay" --policies hardened --stake-cap 500 --quiet "$log" >"$work/hardened"
if [ "$(cat "$work"/* | sort -u | wc -l)" -lt 3 ]; then
    echo "the presets make no difference" >&2
    exit 1
fi
if "$replay" --policies hardened --quiet "$log" >"$work/out" 2>&1 || ! grep -q 'needs --stake-cap' "$work/out"; then
    echo "hardened was played without --stake-cap: $(cat "$work/out")" >&2
    exit 1
fi
