# For scripts that check a program: a folder $work that is removed at the end, and faults, each of which is told. A script
# ends with `exit $bad`.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fault() {
    echo "$*"
    bad=1
}
