# golden.sh <top folder> [--write]: what was written by a version is read by it for ever, so the files of golden bytes stay as they are.
#
# golden.txt says which version wrote which bytes. Another file may be added; a file may change only together with the version in
# include/allot/version.hpp. --write takes in what is new, and refuses what must not change.
set -eu
cd "$1"
list=tests/house/golden.txt
version=$(sed -n 's/^#define ALLOT_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/allot/version.hpp | paste -sd .)
now=$(mktemp)
trap 'rm -f "$now"' EXIT

for file in tests/determinism/golden.txt tests/journal/golden/*/* tests/journal/snapshots/* tests/replica/golden/*; do
    [ -e "$file" ] || continue
    printf '%s %s\n' "$(sha256sum < "$file" | cut -d ' ' -f 1)" "$file"
done > "$now"

written_by=$(sed -n 's/^version //p' "$list" 2> /dev/null || true)
changed=$(sed 1d "$list" 2> /dev/null | grep -vxFf "$now" | cut -d ' ' -f 2 || true)
if [ -n "$changed" ] && [ "$written_by" = "$version" ]; then
    echo "these bytes were written by version $version and are not what they were:"
    echo "$changed"
    echo "who has them already could not read them; take the change back, or raise the version in include/allot/version.hpp and"
    echo "the version of the encoding that changed, and then: sh tests/house/golden.sh . --write"
    exit 1
fi
if [ "${2:-}" = --write ]; then
    { echo "version $version"; cat "$now"; } > "$list"
elif ! { echo "version $version"; cat "$now"; } | cmp -s - "$list"; then
    echo "$list does not have all golden files of version $version: sh tests/house/golden.sh . --write"
    exit 1
fi
