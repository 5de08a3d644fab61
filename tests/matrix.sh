#!/bin/sh
# Builds and tests in other ways than tests/run.sh, each a preset of CMakePresets.json:
#
#     sh tests/matrix.sh [--short] [gcc] [clang] [libcxx] [asan] [tsan] [release]
#
#     gcc      g++ as it comes, with assertions
#     clang    clang 14
#     libcxx   clang 16 with libc++: every header alone, compile_pass, compile_fail, and the smoke program
#     asan     g++ with the address and undefined behaviour sanitizers
#     tsan     g++ with the thread sanitizer, the tests labelled `threads`
#     release  g++ -O2 without assertions
#
# Without a name: all. --short leaves out the legs that repeat tests/run.sh (gcc, release), the tests labelled `slow` and the
# examples, and asan, for tests/fuzz.sh sanitizes whole dispatchers; takes clang 14 over the room that says most about a
# compiler, and clang 14 and 16 over what has to compile; and asks g++ alone for the sentences of compile_fail.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh

short=no
if [ "${1:-}" = --short ]; then
    short=yes
    shift
fi
if [ $# -eq 0 ]; then
    if [ $short = yes ]; then
        set -- clang libcxx tsan
    else
        set -- gcc clang libcxx asan tsan release
    fi
fi

# prefixed <prefix> <word> ...: each word with the prefix
prefixed() {
    prefix=$1
    shift
    for word in "$@"; do
        printf '%s%s ' "$prefix" "$word"
    done
}

# leg <preset> [arguments of configuring]
leg() {
    preset=$1
    without="house"
    shift
    if [ $short = yes ]; then
        without="house|package|slow"
        set -- "$@" -DALLOT_BUILD_EXAMPLES=OFF
    fi
    show cmake --preset "$preset" "$@"
    # shellcheck disable=SC2046,SC2086  # empty, or a list
    show cmake --build --preset "$preset" --parallel "$(cores)" ${rooms:+--target} $(prefixed tests_ $rooms)
    # shellcheck disable=SC2086  # empty, or a command
    show $around ctest --preset "$preset" --label-exclude "$without" --parallel "$(cores)" \
        ${rooms:+--label-regex} ${rooms:+"^($(echo $rooms | tr ' ' '|'))\$"}
}

# compiles <compiler> [flags]: compile_pass without making code of it.
compiles() {
    printf '%s\n' tests/compile_pass/*.cpp |
        show xargs -P "$(cores)" -n 1 "$@" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I include
}

# g++ 12's thread sanitizer cannot place its memory where a recent kernel shuffles addresses too widely.
tsan_runs() {
    mkdir -p build/tsan
    echo 'int main() {}' > build/tsan/probe.cpp
    g++ -fsanitize=thread build/tsan/probe.cpp -o build/tsan/probe && "$@" build/tsan/probe 2> /dev/null
}

need_for library build examples tests
around=
rooms=
times=
for name in "$@"; do
    echo "== $name"
    began=$(date +%s)
    case $name in
        gcc | release) leg "$name" ;;
        clang)
            need_for clang
            if [ $short = yes ]; then
                show cmake --preset clang -DALLOT_BUILD_EXAMPLES=OFF
                show cmake --build --preset clang --parallel "$(cores)" --target smoke tests_pool
                show ctest --preset clang --label-regex '^(smoke|pool)$'
                compiles clang++-14
            else
                leg clang
            fi
            ;;
        libcxx)
            need_for libcxx
            if [ $short = yes ]; then
                show cmake --preset clang16-libcxx -DALLOT_BUILD_EXAMPLES=OFF
                show cmake --build --preset clang16-libcxx --parallel "$(cores)" --target smoke
                show ctest --preset clang16-libcxx --label-regex '^smoke$'
                compiles clang++-16 -stdlib=libc++
            else
                leg clang16-libcxx
            fi
            ;;
        asan)
            [ $short = no ] || rooms="store queue pool"
            leg asan-ubsan
            rooms=
            ;;
        tsan)
            if [ ! -d tests/threads ] && ! grep -rq '^// labels:.*threads' tests --include='*.cpp'; then
                echo "No test is labelled threads."
            elif tsan_runs; then
                leg tsan
            elif tsan_runs setarch -R; then
                around="setarch -R"
                leg tsan
                around=
            else
                echo "This kernel does not let a thread-sanitized program run; left out."
            fi
            ;;
        *)
            echo "There is no leg $name; see the first lines of tests/matrix.sh"
            exit 2
            ;;
    esac
    times="$times$(printf '%-8s %4d s' "$name" $(($(date +%s) - began)))
"
done
echo "== all legs passed"
printf '%s' "$times"
