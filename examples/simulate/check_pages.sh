#!/bin/sh
# Checks that a page and the text of the same run show the same numbers: check_pages.sh SIMULATE
# The numbers of a page are those of the JSON inside it; with chromium, those that a reader sees, too. Needs python3.
set -eu

command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
simulate=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$simulate" --compare crynux_single,hardened:rules.draw_among=3 --attack 5a,17,3a --seeds 2 --load 80 --scale 0.02 --hours 3 \
    --no-progress --report "$work/compare.html" --json "$work/compare.json" >"$work/compare.txt"
"$simulate" --short --hours 6 --no-progress --report "$work/run.html" --json "$work/run.json" >"$work/run.txt"
if command -v chromium >/dev/null; then
    for page in compare run; do
        chromium --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --user-data-dir="$work/profile" \
            --virtual-time-budget=10000 --dump-dom "file://$work/$page.html" >"$work/$page.dom" 2>"$work/log"
    done
fi
cd "$work"
python3 - <<'PROGRAM'
import html, json, os, re, sys

faults = []
def expect(name, one, other):
    if one != other: faults.append(f"{name}: {one!r} is not {other!r}")
def inside(page):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', open(page, encoding="utf-8").read(), re.S)[1])

# A comparison: every figure of the text, in its order, is in the page and in --json.
text = []
for line in open("compare.txt"):
    if m := re.match(r"(\S+) (\S+): ", line): row = m[1]
    elif m := re.match(r"  (\S+), load (\d+) %, (\d+) seeds", line): text.append((row, m[1], int(m[2]), int(m[3]), {}))
    elif m := re.match(r"    (\w+) +(.*)", line): text[-1][4][m[1]] = m[2]
data = inside("compare.html")
page = [(one["row"], one["preset"], one["load"], one["seeds"], {name: of["shown"] for name, of in one["measures"].items()}) for one in data["table"]]
expect("comparison", page, text)
expect("rows of the comparison", len(text), 7)
table = json.load(open("compare.json"))
expect("values", [{n: (m["value"], m["error"]) for n, m in one["measures"].items()} for one in table],
       [{n: (m["value"], m["error"]) for n, m in one["measures"].items()} for one in data["table"]])

# A run: the page has the document of --json; each number of the text is rounded from one of it.
run, document = inside("run.html"), json.load(open("run.json"))
for one in (run, document): one.pop("wall_clock")
expect("run", run, document)
text = open("run.txt").read()
def find(pattern): return re.search(pattern, text, re.M).groups()
totals = run["totals"]
for name, key in (("done", "done"), ("evicted", "evicted"), ("failed", "failed")):
    number, share = find(rf"^  {name} +(\d+) +([\d.]+) %")
    expect(name, int(number), totals[key])
    expect(name + " in percent", share, f"{totals[key] / totals['submitted'] * 100:.1f}")
expect("submitted", int(find(r"^Tasks +(\d+) submitted")[0]), totals["submitted"])
expect("nodes", int(find(r"^Network +(\d+) nodes")[0]), run["run"]["nodes"])
expect("exclusions", int(find(r"^Exclusions +(\d+)")[0]), totals["exclusions"])
expect("utilisation", find(r"^Utilisation +([\d.]+) %")[0], f"{totals['utilisation'] * 100:.1f}")
units = {"ms": .001, "s": 1, "min": 60, "h": 3600, "d": 86400}
def near(name, shown, seconds):
    number, unit = shown.split()
    least = units[unit] * (.5 if "." not in number else .05) * 1.01
    if abs(float(number) * units[unit] - seconds) > least + seconds * .0005: faults.append(f"{name}: {shown} is not {seconds} s")
near("95th percentile", find(r"95th percentile (\S+ \S+)$")[0], run["waits"]["p95_s"])
deciles = re.findall(r"^ +\d+ +[\d.]+k +[\d.]+ % +[\d.]+ % +([\d.]+ \w+) +([\d.]+ \w+)$", text, re.M)
expect("deciles", len(deciles), 10)
for i, (mean, high) in enumerate(deciles):
    near(f"mean wait of decile {i + 1}", mean, run["deciles"][i]["wait_mean_s"])
    near(f"95th percentile of decile {i + 1}", high, run["deciles"][i]["wait_p95_s"])
fees = run["fees"]
for name, part in (("cards", "earned"), ("models", "paid")):
    expect("fees by " + name, sum(one[part] for one in fees[name]), fees["paid"])
expect("fees by node", sum(one[8] for one in fees["nodes"]), fees["paid"])
expect("tasks by model", sum(one["tasks"] for one in fees["models"]), totals["submitted"])
positions = run["series"]["position"]
expect("positions rise", positions, sorted(positions))
if not 0 < positions[len(positions) // 2] < positions[-1] <= totals["commands"]: faults.append("positions are not those of the log")

# What a reader sees.
if os.path.exists("compare.dom"):
    dom = open("compare.dom", encoding="utf-8").read()
    cells = re.findall(r'<span[^>]*data-shown="[^"]*"[^>]*>(.*?)</span>', dom, re.S)
    plain = [html.unescape(re.sub(r"<[^>]*>", "", cell)).replace("\xa0", " ") for cell in cells]
    seen = [re.sub(r" [✓✗?]$", "", text).replace("±", "+-") for text in plain]
    columns = ("gain", "harm", "outlay", "phi", "harm_share")
    wanted = []
    rows = [one for one in page if one[0] != "-"]
    for row in dict.fromkeys(one[0] for one in rows):
        for one in (one for one in rows if one[0] == row):
            wanted += [one[4][name] for name in columns if name in one[4]]
    for shown in wanted:
        if shown in seen: seen.remove(shown)
        else: faults.append(f"the page shows no {shown}")
    dom = html.unescape(re.sub(r"<script.*?</script>", "", open("run.dom", encoding="utf-8").read(), flags=re.S))
    for number in (totals["submitted"], fees["paid"], totals["commands"]):
        if f"{number:,}" not in dom: faults.append(f"the page of the run shows no {number:,}")
print("\n".join(faults))
sys.exit(bool(faults))
PROGRAM
