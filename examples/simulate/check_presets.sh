#!/bin/sh
# Checks that the world is fair to each preset: no command is refused, and most tasks are done. check_presets.sh SIMULATE
set -eu

simulate=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# play PRESET PERCENT NOTE: at least so many tasks are done, and the output has the note.
play() {
    "$simulate" --preset "$1" --short --hours 6 --no-progress --report '' >"$work/$1" || bad=1
    if ! awk -v least="$2" '/^  done / { done = $3 + 0 } END { exit !(done >= least) }' "$work/$1" ||
        ! grep -q "$3" "$work/$1"; then
        echo "$1: expected $2 % done and \"$3\", found:"
        cat "$work/$1"
        bad=1
    fi
}
play crynux_single 95 '^Trace'
play crynux_trio 75 '^World .* three nodes'
play crynux_contracts_1 80 '^World .* three nodes'
play crynux_contracts_2 85 '^World .* lease'
play crynux_relay_2026 95 '^World .* DemandControl'
play hardened 99 '^Trace'
exit "$bad"
