#!/bin/sh
# Compiles and runs the README's first program and the smoke test by every compiler that the system has a package of, with Debian's own Boost and
# then with 1.81 where there is one, and prints a table: what docs/support.md says was tried. tests/bare.sh runs it.
set -eu
cd "$(dirname "$0")/../.."
. tests/support/debian.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^task 7/p' README.md > "$work/expected"
line=$(sed -n 's/^g++ \(.*examples.quickstart.*\) -o .*/\1/p' README.md)

# works <command...>: `yes` where the program compiles and prints what the README says, and the smoke test passes.
works() {
    # shellcheck disable=SC2086  # words
    if "$@" $line -o "$work/first" $fmt > "$work/log" 2>&1 && "$work/first" > "$work/printed" &&
        cmp -s "$work/printed" "$work/expected" &&
        "$@" -std=c++20 -I include -I tests tests/smoke/*.cpp -o "$work/smoke" $fmt >> "$work/log" 2>&1 &&
        "$work/smoke" > /dev/null; then
        echo yes
    else
        echo NO
        head -n 3 "$work/log" >&2
    fi
}

for boost in '' 1.81; do
    export ALLOT_BOOST="$boost"
    if [ -n "$boost" ] && ! LC_ALL=C apt-cache policy "libboost$boost-dev" | grep -q 'Candidate: [^(]'; then
        echo "There is no Boost $boost here."
        continue
    fi
    need_for library
    version=$(sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' /usr/include/boost/version.hpp)
    for compiler in g++-11 g++-12 g++-13 g++-14 clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19; do
        package=$(echo "$compiler" | sed 's/clang++/clang/')
        if ! LC_ALL=C apt-cache policy "$package" | grep -q 'Candidate: [^(]'; then
            continue
        fi
        need "$package"
        fmt=-lfmt
        printf '%-10s  Boost %s  libstdc++  %s\n' "$compiler" "$version" "$(works "$compiler")"
    done
    if [ -z "$boost" ]; then
        need_for libcxx
        fmt=-DFMT_HEADER_ONLY  # the package's own library is one of libstdc++
        printf '%-10s  Boost %s  libc++     %s\n' clang++-16 "$version" "$(works clang++-16 -stdlib=libc++)"
    fi
done
