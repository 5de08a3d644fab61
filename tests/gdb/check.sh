# check.sh <printers> <program> [--write]: what gdb prints with the printers is what expected.txt says; --write takes it as it is.
# Ends with 77, and says why, where gdb cannot do that.
set -eu
printers=$1
program=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cannot() {
    echo "the gdb printers are not tried here: $*"
    exit 77
}
command -v gdb > /dev/null || cannot "there is no gdb"
gdb -batch -nx -ex 'python print("has Python")' 2>&1 | grep -q '^has Python$' || cannot "this gdb has no Python"
gdb -batch -nx -ex 'set disable-randomization off' -ex 'set startup-with-shell off' \
    -ex run --args true > "$work/tried" 2>&1 || true
grep -q 'exited normally' "$work/tried" || cannot "gdb may not run a program ($(tail -n 1 "$work/tried"))"

LC_ALL=C.UTF-8 gdb -batch -nx -ex "source $printers" -x "$here/script.gdb" "$program" < /dev/null > "$work/said" 2>&1 || true
# How large an event is decides where wild pointers lead.
sed -n '/^== /,$ { s/address 0x[0-9a-f]*/some address/; p }' "$work/said" > "$work/printed"
if [ ! -s "$work/printed" ]; then
    cat "$work/said"
    exit 1
elif [ "${3:-}" = --write ]; then
    cp "$work/printed" "$here/expected.txt"
elif ! diff -u "$here/expected.txt" "$work/printed"; then
    echo "where the difference is meant: sh tests/gdb/check.sh $printers $program --write" >&2
    exit 1
fi
