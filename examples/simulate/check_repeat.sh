#!/bin/sh
# Checks that equal runs give equal results except for the wall clock, and that another seed changes them:
# check_repeat.sh SIMULATE
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# play NAME SEED: writes the results without the wall clock.
play() {
    "$simulate" --short --hours 6 --seed "$2" --no-progress --report '' --json "$work/all.json" >/dev/null
    grep -v -e decide_seconds -e decisions_per_second "$work/all.json" >"$work/$1"
}

simulate=$1
play first 7
play again 7
play other 8
cmp "$work/first" "$work/again"
# The results contain the seed, the command and a digest, so something else must differ as well.
without_seed() { grep -v -e '"seed":' -e '"command":' -e '"digest":' "$1"; }
without_seed "$work/first" >"$work/first_rest"
without_seed "$work/other" >"$work/other_rest"
if cmp -s "$work/first_rest" "$work/other_rest"; then
    echo "the seed changes nothing" >&2
    exit 1
fi
