# prose.sh <include folder> [allow list]
#
# Holds the English of the comments, room by room. Fails and prints file:line for
# 1. a word of the list below in any comment, as a whole word; text in backquotes is code and is not read;
# 2. a sentence of more than 30 words in a doc block (`///`, `///<`); a backquoted text counts as one word, and a table row or
#    a line of code (indented by three or more, or all of it in backquotes) does not count;
# 3. a comment that makes a line longer than 120 columns, where the code on the line leaves room for it;
# 4. a public function whose doc block lacks a sentence: `@complexity` where the body loops, sorts, searches, pushes or calls
#    itself, unless its class's block has one for all; the error where it returns `Events` or `Result`; `@pre` where the
#    body asserts.
# The fourth is guessed from the text of the function. prose_allowed.txt lists the functions that it misjudges, with reasons.
set -eu
root=$1
here=$(dirname "$0")
allowed=${2:-$here/prose_allowed.txt}

# The rooms that are held to it, as folders of include/allot; `.` is the headers directly in it. To be extended: a room whose
# comments are rewritten is added here, and a header leaves `unfinished`.
rooms='. core store policy pool queue weight qos valuation estimate placement terms eligibility preset laws compiled job validation
reward json journal dispatcher explain format replica'
unfinished=''

if ! command -v python3 > /dev/null; then
    echo "prose.sh: needs python3, which tests/run.sh installs" >&2
    exit 1
fi

# One line each: the word as a regular expression, `|`, then what to write instead.
python3 "$here/prose.py" "$root" "$rooms" "$unfinished" "$allowed" << 'WORDS'
nobody           | no node, no party, nothing: name the noun
somebody         | a node, an owner, a caller
anybody          | any node, any party
everybody        | all nodes, all parties
whoever          | the node that, the party that, a caller that
whomever         | the party that
whatever         | any, regardless of
whichever        | the one that
meanwhile        | in the same time, until then
beside           | next to, in addition to, outside
besides          | in addition to
hub              | dispatcher
lots?            | random draw
darts?           | random draw
he|him|his|himself | they, them, their
what             | the noun: the result, the error, the bytes that
who|whom         | the noun: the node that, the party that
WORDS
