# defects.sh <table> <tests folder>
#
# Holds the table of defects to what it says: its numbers are 1 to 44 without a gap, each has a test or the reason why it cannot
# occur, and each test it names is a test case of that file, by that very name.
set -eu
awk -v table="$1" -v tests="$2" -v last=44 '
    function fault(text) {
        printf "%s:%d: %s\n", table, NR, text
        faults++
    }
    function finish_row() {
        if (number > 0 && !held) fault("D" number " has neither a test nor a reason")
    }
    # The names of the test cases of a file, read once.
    function read_names(file,    line, start, rest) {
        if (file in known) return
        known[file] = 0
        while ((getline line < (tests "/" file)) > 0) {
            known[file] = 1
            start = index(line, "TEST_CASE(\"")
            if (start > 0) {
                rest = substr(line, start + length("TEST_CASE(\""))
                names[file, substr(rest, 1, index(rest, "\"") - 1)] = 1
            }
        }
        close(tests "/" file)
    }
    /^#/ || /^$/ { next }
    /^D[0-9]+ ./ {
        finish_row()
        if (substr($1, 2) != number + 1) fault("after D" number + 0 " comes D" number + 1 ", not " $1)
        number = substr($1, 2) + 0
        held = 0
        next
    }
    /^  cannot ./ { held = 1; next }
    /^  test [^ :]+: ./ {
        held = 1
        file = substr($2, 1, length($2) - 1)
        name = $0
        sub(/^  test [^ :]+: /, "", name)
        read_names(file)
        if (!known[file]) fault("there is no tests/" file)
        else if (!((file, name) in names)) fault("tests/" file " has no test case \"" name "\"")
        next
    }
    { fault("not a line of this table: " $0) }
    END {
        finish_row()
        if (number != last) fault("the last is D" number + 0 ", not D" last)
        exit faults > 0
    }' "$1"
