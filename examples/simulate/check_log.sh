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
    "$simulate" --preset "$preset" "$@" --scale 0.02 --hours 3 --no-progress --report '' --json "$work/run.json" --log "$work/log" >/dev/null
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
play crynux_single
play crynux_single --set qos.penalty=1/9 --set queue.tasks_per_node=2/1
play crynux_relay_2026
play hardened --set rules.draw_among=3
exit "$bad"
