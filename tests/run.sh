#!/bin/sh
# Installs what is missing, builds everything, runs all tests:
#
#     sh tests/run.sh [arguments of ctest]
#     sh tests/run.sh -L queue        only the tests labelled queue
#     sh tests/run.sh -LE slow        all but the slow ones
#
# CXX chooses the compiler, CXXFLAGS its flags; ALLOT_JOBS how many at once; ALLOT_SEED the seed of the random tests (a
# number or `random`). ALLOT_BOOST=1.81 takes that Boost in place of Debian's own.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh

need_for library build examples service cluster tests
if [ -z "${CXX:-}" ]; then
    CXX=g++
    if [ "$(g++ -dumpversion | cut -d . -f 1)" -lt 12 ]; then
        need g++-12
        CXX=g++-12
    fi
fi

# Unless flags are asked for, the examples are optimised and the tests a little (-O1 takes a tenth longer to compile than -O0
# and half as long to run). Of the service's presets, each of which takes a minute to compile, two are built.
quick="-DALLOT_QUICK_TESTS=ON -DALLOT_OPTIMISE_PROGRAMS=ON -DALLOT_SERVICE_PRESETS=plain;hardened"
[ -z "${CXXFLAGS:-}" ] || quick=
case " $* " in
    *issue*) ;;
    *) set -- --exclude-regex '^issue/' "$@" ;;  # each is part of another test
esac
# shellcheck disable=SC2086  # two words, or none
show cmake -S . -B build/tests -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_FLAGS="${CXXFLAGS:-}" -DALLOT_BUILD_BENCHMARKS=OFF -DALLOT_BUILD_COMPILED=ON -DALLOT_BUILD_TOOLS=ON $quick
show cmake --build build/tests --parallel "$(cores)"
show ctest --test-dir build/tests --output-on-failure --no-tests=error --parallel "$(cores)" "$@"
