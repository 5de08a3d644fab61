#!/bin/sh
# Checks parameters, one's own network, comparisons and bounds: check_lab.sh SIMULATE
set -u

simulate=$1
data=$(dirname "$0")/../data
# shellcheck source=../../tests/support/faults.sh
. "$(dirname "$0")/../../tests/support/faults.sh"
# refuse SENTENCE ARGUMENTS...: the program must end with a fault, and say this.
refuse() {
    sentence=$1
    shift
    if "$simulate" "$@" --no-progress >"$work/out" 2>&1; then fault "accepted: $*"; fi
    grep -qF -- "$sentence" "$work/out" || fault "$*: expected \"$sentence\", found: $(tail -n 1 "$work/out")"
}

# Parameters: what exists is listed, what is set is used.
"$simulate" --preset hardened --parameters --set qos.window=30 >"$work/parameters"
grep -qx 'qos.window=30' "$work/parameters" || fault "--set is not seen in --parameters"
grep -q '^eligibility.fee_max=' "$work/parameters" || fault "a part of a policy has no parameters"
refuse 'there is no such parameter; there are rules.' --set qos.windo=30 --short --report ''
refuse 'qos.window' --set qos.windo=30 --short --report ''
refuse '--set qos.window=many:' --set qos.window=many --short --report ''
refuse '--set rules.draw_among=0:' --set rules.draw_among=0 --short --report ''

# One's own network: a task runs where it must, at the time and for the fee that the files state.
printf 'id,card,stake\nfirst,small,1\nsecond,large,1\n' >"$work/nodes.csv"
printf 'arrival,run,cards,fee\n0,10,large,77\n5,10,large,5\n1,4,small,8\n' >"$work/tasks.csv"
"$simulate" --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is --report '' --no-progress \
    --tasks-out "$work/t.csv" --nodes-out "$work/n.csv" >"$work/out" 2>&1 || fault "own files: $(cat "$work/out")"
grep -q '^Derived  *nodes.operator:' "$work/out" || fault "it does not say what was derived"
cut -d, -f1,10-13 "$work/t.csv" >"$work/ends"
printf '%s\n' task,end,started,ended,node 0,done,0.000,10.000,second 1,done,1.000,5.000,first \
    2,done,10.000,20.000,second | cmp -s - "$work/ends" || fault "tasks went otherwise: $(cat "$work/ends")"
grep -q '^second,.*,82,0$' "$work/n.csv" || fault "the second node has not earned 82: $(cat "$work/n.csv")"
printf 'arrival,run\n0,x\n' >"$work/wrong.csv"
refuse 'wrong.csv:2:3: expected a decimal number' --nodes "$work/nodes.csv" --tasks "$work/wrong.csv" --as-is

# Comparisons: equal ones are equal, and one that is repeated plays nothing.
lab() { "$simulate" --compare crynux_single --scale 0.02 --hours 3 --seeds 2 --load 80 --no-progress "$@"; }
lab --attack 5a,17 --json "$work/one" >"$work/out" 2>&1 || fault "--compare fails: $(cat "$work/out")"
lab --attack 5a,17 --json "$work/two" --runs "$work/runs" >/dev/null
cmp -s "$work/one" "$work/two" || fault "equal comparisons differ"
rm "$(find "$work/runs" -name '*.json' | sort | head -n 1)"
lab --attack 5a,17 --json "$work/three" --runs "$work/runs" >"$work/out"
grep -q '^1 runs played' "$work/out" || fault "it did not go on where it was: $(tail -n 1 "$work/out")"
cmp -s "$work/one" "$work/three" || fault "a comparison that goes on differs"
refuse 'no attack is called "none_such"; there are all, none, absent (0 0a), black_hole (5a 5b 5c 5d)' --compare hardened --attack none_such

# Other tables are other runs, wherever they lie.
head -n 3000 "$data/openb_pod_list_gpuspec33.csv" >"$work/trace.csv"
lab --attack 5a --trace "$work/trace.csv" --runs "$work/other" >/dev/null
cp "$work/trace.csv" "$work/copy.csv"
lab --attack 5a --trace "$work/copy.csv" --runs "$work/other" | grep -q '^0 runs played' || fault "runs of equal tables were not found"
head -n 2000 "$data/openb_pod_list_gpuspec33.csv" >"$work/trace.csv"
lab --attack 5a --trace "$work/trace.csv" --runs "$work/other" | grep -q ' 0 found$' || fault "runs of another trace were found"
mkdir "$work/data"
cp "$data"/*.csv "$work/data"
awk -F, -v OFS=, 'NR > 1 { $NF = 1 + NR } { print }' "$data/epoch_427.csv" >"$work/data/epoch_427.csv"
lab --attack 5a,17 --data "$work/data" --runs "$work/runs" | grep -q ' 0 found$' || fault "runs of other stakes were found"

# What a row alone is about is told of that row alone.
cp "$(dirname "$0")/../../docs/attacks.md" "$work/page.md"
lab --attack 2d,5a --attacks-page "$work/page.md" >/dev/null
tr '\n' ' ' < "$work/page.md" |
    grep -q -- "- 2d, bytes of state when all that lapses has lapsed, times the twin's: crynux_single  *\(\*\*\)*[1-9]" || fault "2d has no bytes of state"
if grep -q '^- 5a, bytes of state' "$work/page.md"; then fault "bytes of state are told of 5a"; fi

# Several worlds have a table of their own, and the limits that are broken there are named.
"$simulate" --compare crynux_single --worlds small,drawn --loads 80 --seeds 2 --attack 5a,2d --no-progress \
    --attacks-page "$work/page.md" >"$work/out" 2>&1 || fault "several worlds: $(cat "$work/out")"
sed -n '/<!-- worlds -->/,/<!-- .worlds -->/p' "$work/page.md" >"$work/worlds"
grep -q '^| row | attack | crynux_single in small | crynux_single in drawn |' "$work/worlds" || fault "no column for a world"
# shellcheck disable=SC2016  # backquotes of Markdown
grep -q '^- Row 2d, `state_bytes` (at most 1): crynux_single in ' "$work/worlds" || fault "2d breaks no limit: $(cat "$work/worlds")"

# One's own network can be attacked, at the load that its tasks have. Two seeds differ in the draws.
awk 'BEGIN { print "id,card,stake"; for (i = 0; i < 40; ++i) { print "n" i ",c" i % 3 "," 1 + i % 7 } }' >"$work/nodes.csv"
awk 'BEGIN { print "arrival,run,fee"; for (i = 0; i < 400; ++i) { print i * 3 ",60," 50 + i % 9 } }' >"$work/tasks.csv"
own() { "$simulate" --compare crynux_single --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is --no-progress "$@"; }
own --attack 5a,1e --seeds 2 --runs "$work/own" --report "$work/own.html" >"$work/out" 2>&1 || fault "own network: $(cat "$work/out")"
grep -q '^Derived  *nodes.operator:' "$work/out" || fault "a comparison does not say what was derived"
grep -q '^  crynux_single, 2 seeds' "$work/out" || fault "it tells a load that it did not play: $(cat "$work/out")"
grep -A 12 '^5a ' "$work/out" | grep -q '^    harm_share  *[1-9]' || fault "black holes do no harm: $(cat "$work/out")"
grep -q 'nodes nodes.csv --tasks tasks.csv --as-is' "$work/own.html" || fault "the page does not say how to play it again"
"$simulate" --compare crynux_single,crynux_single:rules.draw_among=3 --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" \
    --as-is --attack none --seeds 2 --no-progress >"$work/out" 2>&1 || fault "two rules in one's own network: $(tail -n 1 "$work/out")"
grep -q '^    sojourn_rare_cards  *[0-9]' "$work/out" || fault "no cost for rare cards of one's own network"
sed -i 's/,60,/,61,/' "$work/tasks.csv"
own --attack 5a --seeds 2 --runs "$work/own" | grep -q ' 0 found$' || fault "runs of other tasks were found"

# What would be ignored is refused.
refuse '--load' --compare hardened --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is --load 80
refuse '--worlds' --compare hardened --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is --worlds small
refuse '--preset' --compare hardened --preset hardened
refuse '--tasks-out' --compare hardened --tasks-out "$work/t.csv"
refuse '--set' --check "$work/nodes.csv" --set qos.window=30
refuse '--json' --check "$work/nodes.csv" --json "$work/json"
refuse '--seeds' --seeds 3
refuse '--runs' --runs "$work/own"

# Three-node presets kick out honest nodes before the attacker is there.
"$simulate" --compare crynux_trio --attack 5b --scale 0.05 --hours 1 --seeds 1 --no-progress >"$work/out" 2>&1 ||
    fault "three nodes a task: $(cat "$work/out")"

# A search finds knobs that are better than the case's, and tells them. It has seeds of its own.
lab --attack 18 --best-response --search-seeds 1 --json "$work/found" >"$work/out" || fault "a search: $(cat "$work/out")"
grep -q '^    best response     least=' "$work/out" || fault "no knob was found: $(cat "$work/out")"
grep -q '"knobs": "least=' "$work/found" || fault "the found knobs are not in the JSON file"
refuse '--best-response' --compare hardened --search-seeds 2

# What a rule costs is told of the preset that has it.
"$simulate" --compare hardened,hardened:rules.draw_among=3 --attack none --scale 0.02 --hours 3 --seeds 2 --no-progress \
    >"$work/out" || fault "an honest cost: $(cat "$work/out")"
grep -A 1 '^- nobody: .* against hardened:rules.draw_among=3' "$work/out" | grep -q '^  hardened, load' ||
    fault "the cost of a rule is of another preset: $(cat "$work/out")"
for measure in sojourn fees fees_card_second fees_done; do
    grep -q "^    $measure  *[0-9]" "$work/out" || fault "an honest cost has no $measure"
done

# Bounds: one that holds, one that is broken, and lines that are no bounds.
printf '# a comment\n5a crynux_single small 80 gain <= 1.05\n' >"$work/bounds"
"$simulate" --check "$work/bounds" --seeds 2 --no-progress >"$work/out" || fault "a bound that holds: $(cat "$work/out")"
printf '5a crynux_single small 80 harm_share <= 0.5\n' >"$work/bounds"
refuse 'FAILED    5a crynux_single small 80 harm_share' --check "$work/bounds" --seeds 2
printf '5a hardened:qos.window=9 small 80 gain <= 1\n' >"$work/bounds"
refuse 'bounds:1:4: expected a preset without parameters' --check "$work/bounds"
printf '# kept\n1b crynux_single small 80 share_excess <= 9  # kept, too\n' >"$work/bounds"
"$simulate" --check "$work/bounds" --renew --sigmas 3 --no-progress >"$work/out" || fault "--renew: $(cat "$work/out")"
printf '# kept\n1b crynux_single small 80 share_excess <= 0.4669  # kept, too\n' | cmp -s - "$work/bounds" ||
    fault "--renew wrote: $(cat "$work/bounds")"
printf '  1b\tcrynux_single small 80 share_excess\t<=\t9# at most\r\n' >"$work/bounds"
"$simulate" --check "$work/bounds" --renew --sigmas 3 --no-progress >"$work/out" || fault "--renew: $(cat "$work/out")"
printf '  1b\tcrynux_single small 80 share_excess\t<=\t0.4669# at most\r\n' | cmp -s - "$work/bounds" ||
    fault "--renew of other white space wrote: $(cat "$work/bounds")"
printf '1b crynux_single small 80 share_excess <= 0.4\n' >"$work/bounds"
refuse 'FAILED    1b crynux_single small 80 share_excess = 0.4667 +- 0 <= 0.4, enumerated' --check "$work/bounds"
printf '5a hardened small 80 gian <= 1\n' >"$work/bounds"
refuse 'this row has no measure "gian"' --check "$work/bounds"

exit "$bad"
