# tools.sh <prefix> <bindir> <datadir> <built>: the installed simulate and replay play without the sources, wherever they
# are. They are not <built> where packages are missing, which CMake names.
set -eu
[ "$4" = 1 ] || exit 77
moved=$(mktemp -d)
trap 'rm -rf "$moved"' EXIT
mkdir -p "$moved/$2" "$moved/$3/allot"
cp "$1/$2/simulate" "$1/$2/replay" "$moved/$2"
cp -R "$1/$3/allot/simulate" "$moved/$3/allot"
cd "$moved"

simulate() { "$moved/$2/simulate" --scale 0.01 --hours 1 --no-progress --report ''; }
simulate "$@" | grep -q '^Network '
echo '{"time": 0, "command": "Match"}' | "$2/replay" | grep -q '^{"position":1,'
# It reads these tables, and not those of the sources.
rm "$3/allot/simulate/gpu_type_memory.csv"
if simulate "$@" >out 2>&1 || ! grep -qF "$moved/$3/allot/simulate/gpu_type_memory.csv" out; then
    cat out
    exit 1
fi
