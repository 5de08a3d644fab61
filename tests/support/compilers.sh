#!/bin/sh
# Compiles and runs the README's first program and the smoke test with every compiler that the system has a package of,
# with Debian's own Boost and then with 1.81 if there is one. Prints the table of docs/support.md. tests/bare.sh runs
# it.
set -eu
cd "$(dirname "$0")/../.."
. tests/support/debian.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What the program prints is the block of text behind the one that runs it.
awk '/^```/ { inside = $0 == "```text" && ran; if ($0 != "```" && $0 != "```text") ran = 0; next }
     $0 == "./quickstart" { ran = 1 }
     inside' README.md > "$work/expected"
[ -s "$work/expected" ] || { echo "README.md does not say what its first program prints" >&2; exit 1; }
line=$(sed -n 's/^g++ \(.*examples.quickstart.*\) -o .*/\1/p' README.md)

# works <command...>: prints `yes` if the program compiles and prints the README's output, and the smoke test passes.
works() {
    # shellcheck disable=SC2086  # words
    if "$@" $line -o "$work/first" $fmt > "$work/log" 2>&1 && "$work/first" > "$work/printed" &&
        cmp -s "$work/printed" "$work/expected" &&
        "$@" -std=c++20 -I include -I tests tests/smoke/*.cpp -o "$work/smoke" $fmt >> "$work/log" 2>&1 &&
        "$work/smoke" > /dev/null; then
        echo yes
    else
        echo NO
        prefetch "$work/one_does_not"
        head -n 3 "$work/log" >&2
    fi
}

# is_there <package>: true if the system has a package of exactly this name (apt takes an unknown one for a pattern).
is_there() {
    apt-cache show "$1" 2> /dev/null | grep -Fqx "Package: $1"
}

export ALLOT_BOOST
for ALLOT_BOOST in '' 1.81; do
    if [ -n "$ALLOT_BOOST" ] && ! is_there "libboost$ALLOT_BOOST-dev"; then
        echo "There is no Boost $ALLOT_BOOST here."
        continue
    fi
    need_for library
    version=$(sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' /usr/include/boost/version.hpp)
    for compiler in g++-11 g++-12 g++-13 g++-14 clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19; do
        package=$(echo "$compiler" | sed 's/clang++/clang/')
        is_there "$package" || continue
        need "$package"
        fmt=-lfmt
        printf '%-10s  Boost %s  libstdc++  %s\n' "$compiler" "$version" "$(works "$compiler")"
    done
    if [ -z "$ALLOT_BOOST" ]; then
        need_for libcxx
        fmt=-DFMT_HEADER_ONLY  # the package's own library is one of libstdc++
        printf '%-10s  Boost %s  libc++     %s\n' clang++-16 "$version" "$(works clang++-16 -stdlib=libc++)"
    fi
done
[ ! -e "$work/one_does_not" ]
