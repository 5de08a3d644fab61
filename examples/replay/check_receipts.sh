#!/bin/sh
# Checks that receipts are verified by the log that they are of, and no others: check_receipts.sh REPLAY
set -u

replay=$(realpath "$1")
cd "$(dirname "$0")" || exit 1
# shellcheck source=../../tests/support/faults.sh
. "../../tests/support/faults.sh"
# verify STATUS ARGUMENTS...: replay --verify must end with this status. Its output is in $work/out.
verify() {
    status=$1
    shift
    "$replay" --verify "$@" > "$work/out" 2>&1
    found=$?
    [ "$found" = "$status" ] || fault "replay --verify $*: expected the status $status, found $found: $(cat "$work/out")"
}

"$replay" --receipts sample.jsonl > "$work/receipts" || fault "--receipts fails"
count=$(wc -l < "$work/receipts")
[ "$count" -ge 3 ] || fault "sample.jsonl leaves $count receipts"
grep -q '"kind":"draw"' "$work/receipts" || fault "there is no receipt of a draw"

# True receipts, from either form of the log; and the hashes are those of the log.
verify 0 "$work/receipts" sample.jsonl
sum=$("$replay" --quiet sample.jsonl)
[ "$(cat "$work/out")" = "${sum%\}},\"verified\":$count,\"refused\":0}" ] || fault "--verify tells: $(cat "$work/out")"
"$replay" --to binary sample.jsonl > "$work/log"
"$replay" --receipts "$work/log" | cmp -s - "$work/receipts" || fault "another form of the log leaves other receipts"
verify 0 "$work/receipts" "$work/log"
"$replay" --receipts --policies hardened --stake-cap 500 sample.jsonl > "$work/hardened"
verify 0 "$work/hardened" --policies hardened --stake-cap 500 sample.jsonl
verify 1 "$work/hardened" sample.jsonl

# Any character of any receipt replaced by another digit is refused, as is a field that is not the receipt's.
line=1
while [ "$line" -le "$count" ]; do
    sed -n "${line}p" "$work/receipts" > "$work/one"
    size=$(wc -c < "$work/one")
    at=$((line * 7))
    while [ "$at" -lt $((size - 1)) ]; do
        old=$(tail -c +"$((at + 1))" "$work/one" | head -c 1)
        new=1
        [ "$old" != 1 ] || new=2
        { head -c "$at" "$work/one" && printf '%s' "$new" && tail -c +"$((at + 2))" "$work/one"; } > "$work/changed"
        if "$replay" --verify "$work/changed" sample.jsonl > "$work/out" 2>&1; then
            fault "receipt $line with a $new at $at is believed: $(cat "$work/changed")"
        fi
        at=$((at + 97))
    done
    line=$((line + 1))
done
sed 's/"candidates":[0-9]*/"candidates":77/' "$work/receipts" > "$work/changed"
verify 1 "$work/changed" sample.jsonl
[ "$(grep -c '"refused":"the choice was another one than the receipt states","field":"the line"' "$work/out")" = "$count" ] ||
    fault "a line that is not its receipt's: $(cat "$work/out")"

# A log with another command before, one that is too short, and files that hold no receipts.
sed 's/"stake": 400/"stake": 401/' sample.jsonl > "$work/other"
cmp -s "$work/other" sample.jsonl && fault "sample.jsonl has no stake of 400"
verify 1 "$work/receipts" "$work/other"
verify 1 "$work/receipts" --until 1 sample.jsonl
grep -q 'do not lead to the receipt' "$work/out" || fault "a log that is too short: $(cat "$work/out")"
verify 2 sample.jsonl sample.jsonl
verify 2 nowhere sample.jsonl
verify 2 "$work/receipts" --receipts sample.jsonl

exit "$bad"
