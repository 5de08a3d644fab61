#!/bin/sh
# Checks worlds, cold starts, figures of fairness, and comparisons in several worlds: check_worlds.sh SIMULATE
set -u

simulate=$1
# shellcheck source=../../tests/support/faults.sh
. "$(dirname "$0")/../../tests/support/faults.sh"
refuse() {
    sentence=$1
    shift
    if "$simulate" "$@" --no-progress --report '' >"$work/out" 2>&1; then fault "accepted: $*"; fi
    grep -qF -- "$sentence" "$work/out" || fault "$*: expected \"$sentence\", found: $(tail -n 1 "$work/out")"
}

# Fairness of one's own network: 8 and 82 are earned, by two nodes of stake 1 and 4; no task fits the third.
printf 'id,card,stake\nfirst,small,1\nsecond,large,4\nthird,tiny,5\n' >"$work/nodes.csv"
printf 'arrival,run,cards,fee\n0,10,large,77\n5,10,large,5\n1,4,small,8\n' >"$work/tasks.csv"
"$simulate" --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is --report '' --no-progress \
    --fairness-out "$work/fair.csv" --json "$work/fair.json" >"$work/out" 2>&1 || fault "own files: $(cat "$work/out")"
for line in able_nodes,,2 unpaid_nodes,,0 lorenz_by_card,0.333333,0 lorenz_by_card,0.666667,0.0888889 \
    gini_by_card,,0.607407 lorenz_by_stake,0.5,0 lorenz_by_stake,0.6,0.0888889 wait_max_s,,5; do
    grep -qx "$line" "$work/fair.csv" || fault "no line $line in: $(cat "$work/fair.csv")"
done
grep -q '  fees earned by card   Gini 0.607 ' "$work/out" || fault "the text has other figures: $(cat "$work/out")"
grep -q '"gini": 0.6074' "$work/fair.json" || fault "the JSON has other figures"

# play WORLD NODES PERCENT: so many nodes play, no command is refused, and at least so many tasks are done.
play() {
    "$simulate" --world "$1" --load 80 --no-progress --report '' --tasks-out "$work/$1-tasks.csv" \
        --nodes-out "$work/$1-nodes.csv" >"$work/$1" 2>&1 || fault "$1: $(tail -n 1 "$work/$1")"
    grep -q "^Network  *$2 nodes" "$work/$1" || fault "$1 has not $2 nodes: $(grep '^Network' "$work/$1")"
    awk -v least="$3" '/^  done / { done = $3 + 0 } END { exit !(done >= least) }' "$work/$1" || fault "$1: $(cat "$work/$1")"
}
play small 310 90
play drawn 310 90
play llm 100 60  # its requests come in bursts, and a queue holds one task a node

# cold WORLD LEAST MOST: the percent of tasks that took 40 s more than the speed of their node explains, and whose
# owner declared so.
cold() {
    awk -F, -v least="$2" -v most="$3" '
        NR == FNR { speed[$1] = $6; next }
        FNR > 1 && $10 == "done" && $14 == 1 { ++all; cold += $12 - $11 > $5 * 1.1 / speed[$13] + 40 && $4 - $5 == 45 }
        END { if (cold < all * least / 100 || cold > all * most / 100) { print cold " of " all " are cold"; exit 1 } }' \
        "$work/$1-nodes.csv" "$work/$1-tasks.csv" >"$work/cold" || fault "$1: $(cat "$work/cold")"
}
cold small 0 0
cold drawn 2 20
cold llm 2 20

# Wrong distributions are refused, and others are another world.
cp -r "$(dirname "$0")/../data" "$work/data"
sed 's/^run_ms,500,120000/run_ms,500,12/' "$work/data/world_drawn.csv" >"$work/wrong" && mv "$work/wrong" "$work/data/world_drawn.csv"
refuse 'world_drawn.csv: the quantity "run_ms" does not rise' --world drawn --data "$work/data"
sed -i '/^run_ms/d' "$work/data/world_drawn.csv"
refuse 'world_drawn.csv: the quantity "run_ms" has no row' --world drawn --data "$work/data"

# Several worlds and loads: each is played, named, and found again.
lab() {
    "$simulate" --compare crynux_single --attack 5a --seeds 2 --scale 0.02 --hours 1 --worlds small,even --loads 40,80 \
        --runs "$work/runs" --json "$work/$1" 2>"$work/progress"
}
lab one >"$work/out" || fault "--worlds fails: $(cat "$work/out")"
for place in 'small, load 40' 'small, load 80' 'even, load 40' 'even, load 80'; do
    grep -q "world $place %, 2 seeds" "$work/out" || fault "nothing was played in $place"
done
grep -q '100 %  8/8 pairs, 0 min left' "$work/progress" || fault "no progress: $(cat "$work/progress")"
lab two >"$work/out"
grep -q '^0 runs played' "$work/out" || fault "it was played again: $(tail -n 1 "$work/out")"
cmp -s "$work/one" "$work/two" || fault "a comparison that goes on differs"

# A row with a load of its own has a place on a page of other loads.
"$simulate" --compare crynux_single --attack 1f --seeds 1 --scale 0.02 --hours 1 --worlds small,drawn --loads 30,80 \
    --report "$work/page.html" --no-progress >"$work/out" || fault "--report fails: $(cat "$work/out")"
for world in small drawn; do
    grep -q "\"row\":\"1f\",[^{}]*\"preset\":\"crynux_single in $world at 30 %\"" "$work/page.html" || fault "1f has no place in $world"
done
if grep -q '"preset":"[^"]*at 120 %"' "$work/page.html"; then fault "a row names a contender that was not played"; fi
grep -q 'drawn from examples/data/world_drawn.csv' "$work/page.html" || fault "the page does not say where the world drawn comes from"
refuse 'excludes --world' --compare crynux_single --worlds small --world even

exit "$bad"
