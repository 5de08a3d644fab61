#!/bin/sh
# Checks the program's output for a sample log, for its other form, and for wrong logs: check_log.sh REPLAY [--write]
#
# --write writes the events of the sample log to sample.events.jsonl.
set -u

replay=$(realpath "$1")
cd "$(dirname "$0")" || exit 1
# shellcheck source=../../tests/support/faults.sh
. "../../tests/support/faults.sh"
# expect STATUS OUTPUT ARGUMENTS...: the program must end with this status, and its whole output must be this.
expect() {
    status=$1
    output=$2
    shift 2
    "$replay" "$@" > "$work/out" 2>&1 < "$work/in"
    found=$?
    [ "$found" = "$status" ] || fault "replay $*: expected the status $status, found $found"
    [ "$output" = "$(cat "$work/out")" ] || fault "replay $*: expected \"$output\", found: $(cat "$work/out")"
}
# refuse LINE SENTENCE: a log that ends with this line must be refused with this sentence.
refuse() {
    printf '%s\n' "$match" '' "$1" > "$work/in"
    expect 2 "replay: standard input: line 3: $2" --quiet
}

[ "${2:-}" != --write ] || "$replay" sample.jsonl > sample.events.jsonl
match='{"time": 0, "entropy": 1, "command": "Match"}'
sum=$(tail -n 1 sample.events.jsonl)
: > "$work/in"

# The output for a log does not depend on its form or source.
expect 0 "$(cat sample.events.jsonl)" sample.jsonl
"$replay" --to binary sample.jsonl > "$work/log"
expect 0 "$sum" --quiet "$work/log"
expect 0 "$sum" --compare "$work/log" sample.jsonl
cp "$work/log" "$work/in"
expect 0 "$sum" --quiet -
expect 0 "$sum" --quiet --from binary
"$replay" --to json "$work/log" > "$work/in"
expect 0 "$sum" --quiet --policies crynux_single
"$replay" --to binary < "$work/in" | cmp - "$work/log" || fault "a log turned into JSON and back is another one"
"$replay" --to json --until 9 sample.jsonl | "$replay" > "$work/nine"
expect 0 "$(cat "$work/nine")" --until 9 "$work/log"
tail -n 1 "$work/nine" | grep -q '^{"position":9,' || fault "--until 9 does not stop at position 9"
: > "$work/in"
nothing=$("$replay" < "$work/in")
"$replay" --to binary < "$work/in" > "$work/empty"
expect 0 "$nothing" "$work/empty"

# One line for each command, whatever its effects.
commands=$(grep -c '"command"' sample.jsonl)
"$replay" --reply sample.jsonl > "$work/replies"
if ! { [ "$(grep -c '^{"position":[0-9]*,"time":[0-9]*,"events":\[.*\],"accepted":\(true\|false\)}$' "$work/replies")" = "$commands" ] &&
    [ "$(wc -l < "$work/replies")" = $((commands + 1)) ] && [ "$sum" = "$(tail -n 1 "$work/replies")" ]; }; then
    fault "--reply does not write one line for each command, and one at the end"
fi
[ "$(grep -o '"event":' "$work/replies" | wc -l)" = "$(grep -c '"event":' sample.events.jsonl)" ] ||
    fault "--reply writes other events"

# Two logs that differ.
sed '$d' sample.jsonl > "$work/in"
expect 1 '{"differ":"command","position":26,"field":"","first":{"time":99000000,"command":"Advance"},"second":null}
{"differ":"events","position":26,"field":"[0]","first":{"event":"LeaseEnded","lease":{"task":5,"node":"relay-7","token":4,"member":0,"of":1,"deadline":66000},"how":"timed_out","outcome":"timeout"},"second":null}' \
    sample.jsonl --compare -
sed 's/"labels": \["eu"\]/"labels": ["eu", "de"]/' sample.jsonl > "$work/in"
expect 1 '{"differ":"command","position":4,"field":"change.labels[1]","first":"de","second":null}' --compare sample.jsonl
sed 's/"entropy": 2026, //' sample.jsonl > "$work/in"
expect 1 '{"differ":"command","position":12,"field":"entropy","first":null,"second":"ea07000000000000000000000000000000000000000000000000000000000000"}' \
    --compare sample.jsonl
sed 's/"Pause"/"Leave"/' sample.jsonl > "$work/in"
expect 1 '{"differ":"command","position":13,"field":"command","first":"Pause","second":"Leave"}
{"differ":"events","position":13,"field":"[0].event","first":"NodePausePending","second":"NodeLeavePending"}' \
    sample.jsonl --compare -

# Lines that are wrong.
refuse '[1]' 'an object is expected, {...}'
refuse '{"command": "Match"}' 'time: this field is missing'
refuse '{"time": 1, "time": 2, "command": "Match"}' 'time: this field stands twice'
refuse '{"time": "1", "command": "Match"}' 'time: a whole number from -9223372036854775808 to 9223372036854775807 is expected'
refuse '{"time": 18446744073709551616, "command": "Match"}' \
    'time: a whole number from -9223372036854775808 to 9223372036854775807 is expected'
refuse '{"time": 1, "command": "Match", "fee": 1}' 'fee: there is no such field; there are command, entropy, round, time'
refuse '{"time": 1, "command": "Match", "\u001b[2J": 1}' '?[2J: there is no such field; there are command, entropy, round, time'
refuse '{"time": 1, "command": "Pause", "node": -1}' \
    'node: an id is expected: a whole number below 2^64, 1 to 32 bytes of text, or 64 hex digits'
refuse '{"time": 1, "command": "Match", "\u009b2J": 1}' '?2J: there is no such field; there are command, entropy, round, time'
wide='a whole number below 2^64, or below 2^128 as a text of its digits, is expected'
for fee in 18446744073709551616 '"0x10"' '"-1"' '"1e3"' '""' '"340282366920938463463374607431768211456"' 1.5 true; do
    refuse '{"time": 1, "command": "Submit", "task": {"id": 1, "fee": '"$fee"'}}' "task.fee: $wide"
done
refuse '{"time": 1, "command": "Fail", "lease": {"task": 1, "node": 2}, "cause": "bad"}' \
    'cause: there is no "bad"; there are out_of_memory, model_download, execution_error, incorrect_result'

# Logs that are broken, cut or changed anywhere: refused with a sentence, or short but whole.
whole_or_refused() {
    "$replay" --quiet < "$work/in" > "$work/out" 2> "$work/err"
    case $? in
        0) [ ! -s "$work/err" ] && grep -q '^{"position":' "$work/out" ;;
        2) [ ! -s "$work/out" ] && grep -q '^replay: standard input: \(line\|position\) [0-9]' "$work/err" ;;
        *) false ;;
    esac || fault "$1: $(cat "$work/out" "$work/err")"
}
for form in sample.jsonl "$work/log"; do
    size=$(wc -c < "$form")
    at=1
    while [ "$at" -lt "$size" ]; do
        head -c "$at" "$form" > "$work/in"
        whole_or_refused "$form, cut at $at"
        { head -c "$at" "$form" && printf 'Q' && tail -c +"$((at + 2))" "$form"; } > "$work/in"
        whole_or_refused "$form, changed at $at"
        at=$((at + 89))
    done
done
{ printf 'allotlog' && printf '\001\000\000\000\377\377\377\377'; } > "$work/in"
expect 2 'replay: standard input: position 0, byte 0 of the log: the log was not synced from here on and is damaged; cut it here, as recover does'
printf 'all is well\n' > "$work/in"
expect 2 'replay: standard input: position 0, byte 0 of the log: the bytes do not begin as a log does'
"$replay" --from json < "$work/in" 2>&1 | grep -q '^replay: standard input: line 1: not JSON: column 1: ' ||
    fault "text is no JSON, and nobody says so"

# Wrong arguments.
expect 2 'replay: sample.jsonl: ends at position 27, before position 28' --quiet --until 28 sample.jsonl
expect 2 'replay: --explain: there is no node "x" at position 13; choose another position with --until' \
    --quiet --until 13 --explain node:x sample.jsonl
expect 2 'replay: --explain: there is no task "9" at position 13; choose another position with --until' \
    --quiet --until 13 --explain task:9 sample.jsonl
expect 2 'replay: --explain: task: an id is expected: a whole number below 2^64, 1 to 32 bytes of text, or 64 hex digits' \
    --explain task: sample.jsonl
expect 2 'replay: /: cannot be read' /
expect 2 'replay: nowhere: cannot be read' nowhere
for wrong in '--until -1' '--to yaml' '--policies none' '--quiet --to json' '--reply --quiet' '--explain task:1 --to json' '--text' '--compare -' 'one two'; do
    # shellcheck disable=SC2086  # a list of words
    if "$replay" $wrong > "$work/out" 2>&1 < "$work/in" || [ $? != 2 ]; then
        fault "replay $wrong: does not end with 2"
    fi
done
if [ -c /dev/full ] && "$replay" sample.jsonl > /dev/full 2> "$work/err"; then
    fault "a full disk goes unnoticed"
fi

exit "$bad"
