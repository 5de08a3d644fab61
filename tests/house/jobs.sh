# jobs.sh <top folder>
#
# The tables of docs/jobs.md are those of include/allot/job: between `<!-- name -->` and `<!-- /name -->` the first column of a
# table (the second one of the errors) has each name that the code has, once, and no other. So for messages, events, statements (what
# has a place for a signature), errors, phases, outcomes, reasons, parameters with their defaults, and the constants among the limits.
# Whatever stands in backquotes in a table between such marks is made of words of the code.
# shellcheck disable=SC2016  # backquotes of Markdown
set -eu
cd "$1"
page=docs/jobs.md
room=include/allot/job
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=$work/faults
: > "$faults"

# rows <name>: the rows of the table between the marks, without its head.
rows() {
    awk -v name="$1" '
        $0 == "<!-- /" name " -->" { inside = 0 }
        inside && /^\|/ && ++row > 2
        $0 == "<!-- " name " -->" { inside = 1 }' "$page"
}
# cells <name> <column>: what stands in backquotes there, one a line.
cells() {
    rows "$1" | awk -F'|' -v column="$2" '{ print $(column + 1) }' | grep -oE '`[^`]*`' | tr -d '`' || true
}
# compare <name> <column> [code only]: the names on stdin are those of the table.
compare() {
    LC_ALL=C sort > "$work/code"
    cells "$1" "$2" | LC_ALL=C sort > "$work/page"
    [ -s "$work/code" ] || echo "tests/house/jobs.sh: finds no $1 in $room" >> "$faults"
    LC_ALL=C comm -23 "$work/code" "$work/page" | sed "s|.*|$page: the table of $1 lacks &|" >> "$faults"
    [ -n "${3:-}" ] && return
    LC_ALL=C comm -13 "$work/code" "$work/page" | sed "s|.*|$page: the table of $1 has &, which the code has not, or twice|" >> "$faults"
}
# alternatives <variant> <header>
alternatives() {
    tr '\n' ' ' < "$room/$2" | sed "s/.*using $1 = *std::variant<\([^>]*\)>;.*/\1/" | tr ',' '\n' | sed 's/.*:://; s/ //g'
}
# enumerators <enum> <header>
enumerators() {
    sed -n "/^enum class $1 /,/^};/p" "$room/$2" | sed -n 's/^    \([a-z_]*\)\( = [0-9]*\)\{0,1\},.*/\1/p'
}

alternatives JobMessage job_message.hpp | compare messages 1
alternatives JobEvent job_effects.hpp | compare events 1
enumerators JobError job_error.hpp | compare errors 2
enumerators JobPhase job_processor.hpp | compare phases 1
enumerators JobOutcome macro_record.hpp | compare outcomes 1
enumerators RejectReason result_record.hpp | compare reasons 1
awk '/^struct / { name = $2 } /^    Signature signature/ { print name }' "$room"/*.hpp | compare statements 1
sed -n 's/.* constexpr [^(]* \([a-z_]*_max\) = .*/\1/p' "$room"/*.hpp | compare limits 3 'code only'

# Each parameter with its default, as the page writes it.
cat "$room/queue_parameters.hpp" "$room/job_parameters.hpp" "$room/plan.hpp" |
    awk '/^struct (QueueParameters|JobParameters|Slicing) \{/ { inside = 1 } /^};/ { inside = 0 } inside' |
    sed -n 's/^    \(Duration\|std::uint32_t\|bool\) \([a-z_]*\) = \([^;]*\);.*/\2 \3/p' |
    sed 's/std::chrono::seconds{\(.*\)}/\1 s/; s/std::chrono::milliseconds{\(.*\)}/\1 ms/; s/std::chrono::minutes{\(.*\)}/\1 min/' |
    LC_ALL=C sort > "$work/code"
rows parameters | sed 's/^| `\([a-z_]*\)` | \([^|]*\) |.*/\1 \2/' | LC_ALL=C sort > "$work/page"
LC_ALL=C comm -3 "$work/code" "$work/page" | sed "s|^.*|$page and the code differ in the parameter: &|" >> "$faults"

# Whatever is refused is refused with an error of the code.
enumerators JobError job_error.hpp | LC_ALL=C sort > "$work/errors"
cells messages 6 | grep '_' | grep -v 'fence_completions' | LC_ALL=C sort -u | LC_ALL=C comm -13 "$work/errors" - |
    sed "s|.*|$page: a message is refused with &, which is no error|" >> "$faults"

# Words in backquotes are words of the code.
cat "$room"/*.hpp | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u > "$work/words"
# shellcheck disable=SC2013  # a mark has no blanks
for table in $(sed -n 's/^<!-- \([^/ ]*\) -->$/\1/p' "$page"); do
    rows "$table" | grep -oE '`[^`]*`' | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u |
        LC_ALL=C comm -13 "$work/words" - | sed "s|.*|$page: the table of $table names &, which no header of $room does|" >> "$faults"
done

if [ -s "$faults" ]; then
    cat "$faults"
    exit 1
fi
