#!/bin/sh
# Every source is as clang-format 14 and .clang-format leave it.
#
#     sh tests/house/format.sh             fails and names the files that are not
#     sh tests/house/format.sh --write     formats them
set -eu
cd "$(dirname "$0")/../.."
. tests/support/debian.sh
need_for style

# Compile-fail tests are one thought a line, and their expected sentence stands on a line of its own, whatever its length.
sources() {
    git ls-files '*.hpp' '*.cpp' '*.ipp' | grep -v -e '^tests/compile_fail/' -e '^tests/house/'
}

if [ "${1:-}" = --write ]; then
    sources | xargs clang-format-14 -i
    exit
fi
if ! sources | xargs clang-format-14 --dry-run -Werror 2> /tmp/format.$$; then
    sed -n 's/^\([^:]*\):.*/\1/p' /tmp/format.$$ | sort -u
    rm -f /tmp/format.$$
    echo "These are not formatted: run sh tests/house/format.sh --write" >&2
    exit 1
fi
rm -f /tmp/format.$$
