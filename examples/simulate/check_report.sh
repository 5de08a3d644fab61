#!/bin/sh
# Checks a report in a browser: check_report.sh REPORT.html
# Nothing may be wider than its window, of a desk or of a phone, every chart must be drawn, nothing may be fetched, and it must print
# on A4. Needs chromium and poppler-utils.
set -eu

report=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

browse() {
    chromium --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update \
        --disable-sync --no-first-run --user-data-dir="$work/profile" --virtual-time-budget=10000 "$@" 2>"$work/log"
}
fail() {
    echo "$report: $*" >&2
    exit 1
}

# It must not refer to another host.
if grep -nEi "(src|href|action|srcset)[[:space:]]*=[[:space:]]*[\"']?(https?:)?//|url\([\"']?(https?:)?//|@import" "$report" >"$work/found"; then
    fail "refers to another place: $(cut -c1-200 "$work/found")"
fi
grep -q "Content-Security-Policy.*default-src 'none'" "$report" || fail "has no policy that forbids requests"

# A probe reports the layout, in the page's own words.
cat >"$work/probe.html" <<'PROBE'
<script>
addEventListener('load', () => setTimeout(() => {
  const root = document.documentElement, blank = [], wide = [];
  document.querySelectorAll('canvas').forEach(canvas => {
    if (canvas.offsetParent === null) { return; }  // a part that this run has no data for
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    if (!pixels.some(byte => byte !== 0) || !Chart.getChart(canvas)) { blank.push(canvas.id); }
  });
  if (!document.querySelector('footer').childElementCount) { blank.push('footer'); }  // its script did not come to the end
  document.querySelectorAll('main *').forEach(box => {
    if (box instanceof SVGElement && box.tagName !== 'svg' || box.closest('.scroll, thead')) { return; }  // cut off, or scrolled, on purpose
    if (box.getBoundingClientRect().right > root.clientWidth + 1 || box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display === 'block') { wide.push(box.id || box.tagName + '.' + box.className); }
  });
  const width = root.clientWidth, content = root.scrollWidth;
  parent.postMessage('PROBE width=' + width + ' content=' + content + ' wide=[' + wide.join(' ') + '] blank=[' + blank.join(' ') +
    '] requests=[' + performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:')).join(' ') + ']', '*');
}, 500));
</script>
PROBE
# The probe is in a copy, so that the report is unchanged; a frame may be narrower than any window.
sed "/<\/body>/{
    r $work/probe.html
    d
}" "$report" >"$work/probed.html"
for width in 1366 800 360; do
    cat >"$work/frame.html" <<FRAME
<body style="margin:0"><iframe src="probed.html" style="border:0" width="$width" height="1000"></iframe>
<script>addEventListener('message', event => { document.body.replaceChildren(); document.body.textContent = event.data; });</script>
FRAME
    browse --window-size=1400,1000 --dump-dom "file://$work/frame.html" >"$work/dom" || fail "chromium failed: $(cat "$work/log")"
    grep -o 'PROBE width=[^<]*' "$work/dom" >"$work/answer" || fail "its scripts did not run through: $(cat "$work/log")"
    grep -q "^PROBE width=\([0-9]*\) content=\1 wide=\[\] blank=\[\] requests=\[\]" "$work/answer" ||
        fail "at $width pixels: $(cat "$work/answer")"
done

browse --print-to-pdf="$work/report.pdf" --no-pdf-header-footer "file://$(realpath "$report")" >/dev/null
pdfinfo "$work/report.pdf" | grep -q "Page size:.*(A4)" || fail "not A4 on paper: $(pdfinfo "$work/report.pdf")"
# Chromium shrinks a page that is too wide for the paper; then its title, the first word, is smaller than it was set.
pdftotext -bbox "$work/report.pdf" "$work/words"
awk -F'"' '/<word/ {
        if ($2 < 20 || $6 > 576) { print "outside the margins: " $0; bad = 1 }
        if (++words == 1 && $8 - $4 < 14) { print "shrunk: " $0; bad = 1 }
    } END { exit bad || words < 100 }' "$work/words" >"$work/lost" || fail "too wide for the paper: $(cat "$work/lost")"
echo "$report: fits, fetches nothing, prints on $(pdfinfo "$work/report.pdf" | awk '/^Pages/ { print $2 }') A4 pages"
