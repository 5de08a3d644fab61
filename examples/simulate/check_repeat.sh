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
# The results contain the seed, so something else must differ as well.
sed 's/"seed": 8/"seed": 7/' "$work/other" >"$work/renamed"
if cmp -s "$work/first" "$work/renamed"; then
    echo "the seed changes nothing" >&2
    exit 1
fi
