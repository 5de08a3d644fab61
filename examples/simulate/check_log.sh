#!/bin/sh
# Checks that replay plays the log of a run: check_log.sh SIMULATE REPLAY
# A preset whose parameters were changed has other decisions, so the log must set them, too.
set -eu

simulate=$1
replay=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# play PRESET OPTIONS...: the tasks that end well are those of the run, and its positions are those of the log.
play() {
    preset=$1
    shift
    "$simulate" --preset "$preset" "$@" --no-progress --report '' --json "$work/run.json" --log "$work/log" >/dev/null
    cap=$(sed -n 's/.*"stake_cap": \([0-9]*\).*/\1/p' "$work/run.json")
    "$replay" --policies "$preset" --stake-cap "$cap" "$work/log" >"$work/events" || bad=1
    done=$(sed -n 's/^  *"done": \([0-9]*\),$/\1/p' "$work/run.json" | head -n 1)
    found=$(grep -c '"event":"TaskDone"' "$work/events")
    if [ "$done" != "$found" ] || [ "$done" -lt 100 ]; then
        echo "$preset $*: the run did $done tasks, and its log $found"
        bad=1
    fi
    positions=$(wc -l <"$work/log")
    grep -q "^{\"position\":$positions," "$work/events" || { echo "$preset $*: the log was not played to its end"; bad=1; }
    last=$(sed -n '/"position": \[/,/\]/s/^ *\([0-9]*\),\{0,1\}$/\1/p' "$work/run.json" | tail -n 1)
    if [ "$last" -gt "$positions" ] || [ "$last" -lt $((positions / 2)) ]; then
        echo "$preset $*: the last position is $last of $positions"
        bad=1
    fi
}
# shellcheck disable=SC2086  # words
trace='--scale 0.02 --hours 3'
play crynux_single $trace
play crynux_single $trace --set qos.penalty=1/9 --set queue.tasks_per_node=2/1
play crynux_relay_2026 $trace
play hardened $trace --set rules.draw_among=3

# A task that pays less than the least fee is refused in both.
echo 'id,card,vram,stake,speed' >"$work/nodes.csv"
echo 'arrival,run,fee,vram' >"$work/tasks.csv"
for i in $(seq 40); do echo "n$i,RTX 4090,24,100,1" >>"$work/nodes.csv"; done
for i in $(seq 160); do echo "$((i * 60)),60,$((i % 4 == 0 ? 1 : 60000)),8" >>"$work/tasks.csv"; done
play hardened --nodes "$work/nodes.csv" --tasks "$work/tasks.csv" --as-is
[ "$done" -lt 150 ] || { echo "no task was refused: $done are done"; bad=1; }
exit "$bad"
