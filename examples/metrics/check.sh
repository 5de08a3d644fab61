#!/bin/sh
# Compares the program's output with golden.prom, and checks its form and that README.md has each name:
# check.sh METRICS [--write]
# If promtool is installed (Debian: prometheus), it checks the output, too.
set -eu

metrics=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$metrics" > "$work/now"
if [ "${2:-}" = --write ]; then
    cp "$work/now" "$here/golden.prom"
fi
diff -u "$here/golden.prom" "$work/now" || { echo "if that is meant, run check.sh --write" >&2; exit 1; }
awk -f "$here/check.awk" "$work/now"
if command -v promtool > /dev/null; then
    promtool check metrics < "$work/now"
fi
sed -n 's/^# TYPE \([^ ]*\) \([^ ]*\)$/| `\1` | \2 |/p' "$work/now" | while read -r row; do
    grep -qF "$row" "$here/README.md" || { echo "README.md has no row that begins with $row" >&2; exit 1; }
done

# The check itself must find these faults.
notices() {
    sed "$1" "$work/now" > "$work/wrong"
    if cmp -s "$work/now" "$work/wrong" || awk -f "$here/check.awk" "$work/wrong" > /dev/null; then
        echo "check.awk does not notice: sed '$1'" >&2
        exit 1
    fi
}
notices '/le="+Inf"/d'
notices '/_seconds_sum/d'
notices 's/\(_seconds_count\) .*/\1 1/'
notices 's/le="10"/le="0.5"/'
notices 's/\(le="60"}\) .*/\1 0/'
notices 's/allot_explanations_total/allot_explanations/'
notices 's/allot_leases/allot_leases_total/'
notices 's/^allot_leases \(.*\)$/&\n&/'
notices 's/state="busy"/state=busy/'
notices '/^# TYPE allot_nodes gauge/d'
