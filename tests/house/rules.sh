# rules.sh [--mutate] <top folder>
#
# Each "rule 14", "seed 001", "spec: crynux.md 2.7" and "spec: D17" in the code and on the pages leads to an anchor: of docs/rules.md,
# docs/crynux.md or a row of tests/defects/table.txt. Each rule says why, names its source and a test, and each test and header that
# a page names is there.
#
# --mutate breaks ten rules, each by a patch in a copy, and sees the test that holds the rule fail. It compiles ten tests, one after
# the other (CXX, CXXFLAGS; each about a minute); so it is no part of the ordinary run. Without it, it is only checked that each
# patch still finds its line.
set -eu
mutate=no
if [ "${1:-}" = --mutate ]; then
    mutate=yes
    shift
fi
cd "${1:-$(dirname "$0")/../..}"
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# rule | header under include/allot | patch | test that has to fail
mutants='
5  | dispatcher/turn/settling.hpp      | s/TimePoint{Duration{due->time}} > /TimePoint{Duration{due->time}} >= /      | tests/dispatcher/due.cpp
6  | terms/fixed_terms.hpp             | s/estimates = 2;/estimates = 3;/                                            | tests/terms/fixed_terms.cpp
9  | dispatcher/rules.hpp              | s/narrowing = Narrowing::any;/narrowing = Narrowing::none;/                 | tests/dispatcher/candidates.cpp
10 | eligibility/hardware_fit.hpp      | s/vram >= requirement/vram > requirement/                                   | tests/eligibility/hardware_fit.cpp
12 | qos/rolling_qos.hpp               | s/score_new = Score::from_ratio(1, 2)/score_new = Score::from_ratio(1, 3)/  | tests/qos/rolling_qos.cpp
14 | queue/value_queue_parameters.hpp  | s/tasks_per_node.of(nodes)/tasks_per_node.of(nodes + 1)/                    | tests/dispatcher/queue.cpp
16 | policy/task_queue.hpp             | s/a.sequence < b.sequence/a.sequence > b.sequence/                          | tests/dispatcher/pulls.cpp
19 | qos/rolling_qos.hpp               | s/timeout_scores_zero = true;/timeout_scores_zero = false;/                 | tests/dispatcher/quality.cpp
23 | reward/fee_split.hpp              | s/remainder = Remainder::last_paid/remainder = Remainder::largest_fraction/ | tests/reward/fee_split.cpp
24 | placement/threshold_placement.hpp | s/holders_min = 3;/holders_min = 2;/                                        | tests/placement/threshold_placement.cpp
'
each_mutant() {
    echo "$mutants" | sed '/^$/d; s/  *|  */|/g; s/  *$//'
}

anchors() {
    sed -n 's/.*<a id="\([^"]*\)".*/\1/p' "$1"
}
{
    anchors docs/rules.md | sed 's/^rule-/rule /; s/^seed-/seed /'
    anchors docs/crynux.md | sed 's/^s\([0-9]\)/crynux.md \1/'
    sed -n 's/^\(D[0-9]*\) .*/spec: \1/p' tests/defects/table.txt
    echo "spec: golden numbers"
} > "$work/anchors"

# references: `file:line:anchor` for each reference. A line is read together with the next one of the same comment, for a reference may
# be broken in two. `rules 8 to 10` is three references.
references() {
    find include tests examples benchmarks README.md CHANGELOG.md CONTRIBUTING.md docs -type f \
        \( -name '*.hpp' -o -name '*.cpp' -o -name '*.ipp' -o -name '*.md' -o -name '*.sh' -o -name '*.txt' -o -name '*.cmake' \) \
        ! -path 'tests/house/rules.sh' ! -path 'tests/house/self_test.sh' ! -path 'tests/fuzz/corpus/*' |
        LC_ALL=C sort | xargs awk '
            function found(kind, at) { printf "%s:%d:%s %s\n", file, at, kind, number }
            # Tells the numbers of a list that begins `text`: "16, 17 and 26)", "2.1 to 2.8)", "14".
            function numbers(kind, text, at,    last, word) {
                last = ""
                while (match(text, /^(, and |, | and | to )?[0-9]+(\.[0-9]+)?/)) {
                    word = substr(text, 1, RLENGTH)
                    text = substr(text, RLENGTH + 1)
                    number = word
                    sub(/^[^0-9]*/, "", number)
                    if (word ~ /^ to / && last != "" && number ~ /^[0-9]+$/ && kind == "rule")
                        for (between = last + 1; between < number + 0; ++between) {
                            upto = number
                            number = between ""
                            found(kind, at)
                            number = upto
                        }
                    found(kind, at)
                    last = number
                }
            }
            function look(text, reach, at,    rest, start, gone) {
                rest = text
                gone = 0
                while (match(rest, /[Rr]ules? [0-9]|[Ss]eeds? 0[0-9][0-9]|crynux\.md [0-9]|spec: (D[0-9]|golden)/)) {
                    start = RSTART
                    before = start > 1 ? substr(rest, start - 1, 1) : " "
                    what = substr(rest, start)
                    gone += start
                    if (gone > reach) return  # it begins on the next line, which has its own turn
                    rest = substr(rest, start + 1)
                    if (before ~ /[A-Za-z0-9_:]/) continue
                    if (what ~ /^[Rr]ules? /) {
                        sub(/^[Rr]ules? /, "", what)
                        numbers("rule", what, at)
                    } else if (what ~ /^[Ss]eeds? /) {
                        sub(/^[Ss]eeds? /, "", what)
                        numbers("seed", what, at)
                    } else if (what ~ /^crynux/) {
                        sub(/^crynux\.md /, "", what)
                        numbers("crynux.md", what, at)
                    } else if (what ~ /^spec: D/) {
                        match(what, /^spec: D[0-9]+/)
                        number = substr(what, 7, RLENGTH - 6)
                        found("spec:", at)
                    }
                }
            }
            FNR == 1 { look(line, length(line), at); file = FILENAME }
            FNR > 1 { bare = $0; sub(/^[ \t]*(\/\/\/?<?|#|\|)?[ \t]*/, "", bare); look(line " " bare, length(line) + 1, at) }
            { line = $0; at = FNR }
            END { look(line, length(line), at) }'
}
references > "$work/references"

faults=$work/faults
awk -F: -v anchors="$work/anchors" '
    BEGIN { while ((getline line < anchors) > 0) known[line] = 1 }
    {
        reference = $3 (NF > 3 ? ":" $4 : "")
        if (!(reference in known)) printf "%s:%s: %s leads nowhere\n", $1, $2, reference
    }' "$work/references" > "$faults"

# Each rule once, in order, with all that it has to say.
awk '
    function fault(text) { printf "docs/rules.md: rule %d %s\n", number, text }
    function finish() {
        if (number == 0) return
        if (body !~ /\*Why:\*/) fault("does not say why")
        if (body !~ /\*Source:\*/) fault("names no source")
        if (body !~ /\*Test:\*/ || body !~ /`tests\/[^`]*`/) fault("names no test")
    }
    /^<a id="rule-[0-9]+"><\/a>$/ {
        match($0, /[0-9]+/)
        anchor = substr($0, RSTART, RLENGTH) + 0
    }
    /^#/ {
        finish()
        number = 0
        body = ""
    }
    /^### Rule [0-9]+: / {
        number = $3 + 0
        if (number != last + 1) fault("comes after rule " last + 0)
        if (anchor != number) fault("has no anchor of its number above it")
        last = number
    }
    number > 0 { body = body " " $0 }
    END { finish(); if (last == 0) print "docs/rules.md: there is no rule" }' docs/rules.md >> "$faults"

# Every test, example or header that a page names is there.
for page in README.md CONTRIBUTING.md docs/*.md; do
    grep -oE '`(tests|examples|benchmarks|include)/[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' | sort -u | while read -r file; do
        # shellcheck disable=SC2086  # it may be a pattern
        ls -d $file > /dev/null 2>&1 || echo "$page: there is no $file"
    done >> "$faults"
    # A header is named from include/allot, or on the pages about the dispatcher from its folder.
    grep -oE '`(allot/)?[a-z0-9_/]+\.hpp`' "$page" | tr -d '`' | sed 's|^allot/||' | sort -u | while read -r file; do
        [ -f "$file" ] || [ -f "tests/$file" ] || [ -f "include/allot/$file" ] || [ -f "include/allot/dispatcher/$file" ] || [ -f "tests/support/$file" ] ||
            [ -f "include/allot/dispatcher/turn/$file" ] || echo "$page: there is no header $file"
    done >> "$faults"
done

each_mutant | while IFS='|' read -r rule header patch test; do
    if [ ! -f "include/allot/$header" ] || sed "$patch" "include/allot/$header" | cmp -s - "include/allot/$header"; then
        echo "tests/house/rules.sh: the patch of rule $rule changes nothing in include/allot/$header"
    fi
    [ -f "$test" ] || echo "tests/house/rules.sh: there is no $test"
    awk -v rule="$rule" -v test="\`$test\`" '
        /^#/ { mine = $0 ~ "^### Rule " rule ": " }
        mine { body = body " " $0 }
        END { exit index(body, test) == 0 }' docs/rules.md ||
        echo "tests/house/rules.sh: rule $rule of docs/rules.md does not name $test"
done >> "$faults"

if [ -s "$faults" ]; then
    cat "$faults"
    exit 1
fi
[ "$mutate" = yes ] || exit 0

# ---- ten broken rules ---------------------------------------------------------------------------------------------------

compile() {
    # shellcheck disable=SC2086  # several words
    (cd "$work/copy" && ${CXX:-g++} -std=c++20 -O0 ${CXXFLAGS:-} -Iinclude -Itests -DALLOT_TESTS_DIR="\"$work/copy/tests\"" "$@")
}
mkdir "$work/copy"
cp -r include tests docs cmake examples "$work/copy"
# What is compiled once elsewhere would hide the patch.
sed -i '/^extern template/d' "$work/copy"/include/allot/compiled/*.hpp "$work/copy"/tests/support/instances.hpp
compile -c tests/support/main.cpp -o "$work/main.o"
compile -c cmake/compiled/guard.cpp -o "$work/guard.o"

# broken <program>: whether a test failed, and not the machine: Catch2 ends with the number of failures.
broken() {
    (cd "$work/copy" && "$work/$1") > "$work/printed" 2>&1 && return 1
    grep -q 'FAILED:' "$work/printed"
}
each_mutant > "$work/mutants"
survived=0
while IFS='|' read -r rule header patch test; do
    began=$(date +%s)
    cp "$work/copy/include/allot/$header" "$work/whole"
    sed -i "$patch" "$work/copy/include/allot/$header"
    if ! compile "$test" "$work/main.o" "$work/guard.o" -lrapidcheck -lfmt -lpthread -o "$work/program" > "$work/log" 2>&1; then
        result="does not compile"
        head -n 5 "$work/log"
    elif broken program; then
        result="fails, as it must"
    else
        result="PASSES"
    fi
    cp "$work/whole" "$work/copy/include/allot/$header"
    [ "$result" = "fails, as it must" ] || survived=$((survived + 1))
    printf 'rule %-2s  %-42s  %-18s  %3d s\n' "$rule" "$test" "$result" $(($(date +%s) - began))
done < "$work/mutants"
[ "$survived" -eq 0 ]
