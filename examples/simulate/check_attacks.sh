#!/bin/sh
# Checks docs/attacks.md: check_attacks.sh SIMULATE PAGE
# Its sentences and rows are those that the program prints; its figures are of rows and attacks that the program has,
# and say of which version they are. Figures of an older version may stay: to play them again takes minutes.
set -eu

simulate=$1
page=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

cp "$page" "$work/page.md"
"$simulate" --attacks-page "$work/page.md"
if ! diff -u "$page" "$work/page.md"; then
    echo "$page is not what the program prints: simulate --attacks-page $page"
    bad=1
fi

sed -n '/^<!-- figures -->/,/^<!-- \/figures -->/p' "$page" >"$work/figures"
grep -q '^Figures of allot [0-9]*\.[0-9]*\.[0-9]*, world ' "$work/figures" || { echo "$page: the figures have no version"; bad=1; }
sed -n 's/^### \(.*\)/attack \1/p; s/^- Row \([^:]*\): .*/row \1/p' "$work/page.md" | sort -u >"$work/known"
sed -n 's/^| \([0-9][^ ]*\) | \[\([^]]*\)\].*/row \1\nattack \2/p' "$work/figures" | sort -u >"$work/shown"
[ "$(grep -c . "$work/shown")" -gt 40 ] || { echo "$page: the table of figures is not there"; bad=1; }
comm -13 "$work/known" "$work/shown" | sed "s|.*|$page has figures of an unknown &|" >"$work/unknown"
if [ -s "$work/unknown" ]; then
    cat "$work/unknown"
    bad=1
fi
exit "$bad"
