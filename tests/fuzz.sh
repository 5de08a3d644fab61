#!/bin/sh
# Gives bytes of strangers to whatever reads any, with libFuzzer and the sanitizers of clang 14:
#
#     sh tests/fuzz.sh SECONDS [target...]   each of all targets, or of those, as many at once as there are cores
#     sh tests/fuzz.sh --gate                10 seconds each, and 60 for job, always with the same seed
#     sh tests/fuzz.sh --messages COUNT      the target job, optimised and without sanitizers, until the machines under each
#                                            of the three arbiters have had so many messages: 1e7 take about an hour
#     sh tests/fuzz.sh --keep [target...]    some inputs that reach more than the seeds do, for tests/fuzz/corpus
#
# A target is tests/fuzz/<target>.cpp; tests/fuzz/support/target.hpp says what it holds. What is found on the way grows
# in build/fuzz/corpus, where the next run begins. An input that fails is named at the end: copy it to
# tests/fuzz/crashes/<target>, and every run of the tests tries it. ALLOT_SEED is the seed: a number, or `random`, which
# it is without one but in the gate.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh

usage() {
    sed -n '2,/^set -eu/{s/^# \{0,1\}//p;}' tests/fuzz.sh
    exit 2
}

# build <target>: the program, and its seeds.
build() {
    began=$(date +%s)
    mkdir -p build/fuzz
    ${CMAKE_CXX_COMPILER_LAUNCHER:-} clang++-14 -std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
        -fno-sanitize-recover=all -DALLOT_FUZZ_ALONE=1 -Iinclude -Itests -c "tests/fuzz/$1.cpp" -o "build/fuzz/$1.o"
    clang++-14 -fsanitize=fuzzer,address,undefined "build/fuzz/$1.o" -o "build/fuzz/$1" -lfmt -lcrypto
    rm -rf "build/fuzz/seeds/$1"
    ALLOT_FUZZ_SEEDS="build/fuzz/seeds/$1" "build/fuzz/$1"
    mkdir -p "build/fuzz/corpus/$1" "build/fuzz/found/$1" "tests/fuzz/corpus/$1"
    echo "$1: built in $(($(date +%s) - began)) s"
}

failed() {
    grep -E '^==[0-9]+==.*ERROR|what\(\):|Assertion|runtime error' "$2" || true
    grep -E '^ +#[0-9]+ .*(include/allot|tests/fuzz|examples)/' "$2" | head -n 12 || true
    echo "$1: FAILED with seed $3; its input: $(sed -n 's/.*Test unit written to //p' "$2")"
    return 1
}

# messages <count> <seed>: says after each minute how many messages each arbiter has had.
messages() {
    mkdir -p build/fuzz/corpus/job build/fuzz/found/job
    clang++-14 -std=c++20 -O2 -g1 -D_GLIBCXX_ASSERTIONS -fsanitize=fuzzer-no-link -DALLOT_FUZZ_ALONE=1 -Iinclude -Itests \
        -c tests/fuzz/job.cpp -o build/fuzz/job-fast.o
    clang++-14 -fsanitize=fuzzer build/fuzz/job-fast.o -o build/fuzz/job-fast -lfmt -lcrypto
    rm -rf build/fuzz/seeds/job
    ALLOT_FUZZ_SEEDS=build/fuzz/seeds/job build/fuzz/job-fast
    log=build/fuzz/job-fast.log sums=build/fuzz/job-fast.sums round=0
    : > "$sums"
    while awk -v least="$1" '
        { for (i = 1; i <= 3; ++i) sum[i] += $i }
        END { exit NR > 0 && sum[1] >= least && sum[2] >= least && sum[3] >= least }' "$sums"; do
        round=$((round + 1))
        build/fuzz/job-fast -max_total_time=60 -seed=$(($2 + round)) -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
            -artifact_prefix=build/fuzz/found/job/ build/fuzz/corpus/job build/fuzz/seeds/job tests/fuzz/corpus/job > "$log" 2>&1 ||
            failed job "$log" $(($2 + round))
        sed -n 's/^messages: \([0-9]*\) with Intent, \([0-9]*\) with StoreCas, \([0-9]*\) with Quorum/\1 \2 \3/p' "$log" >> "$sums"
        awk '{ for (i = 1; i <= 3; ++i) sum[i] += $i }
            END { printf "%d min: %d messages with Intent, %d with StoreCas, %d with Quorum\n", NR, sum[1], sum[2], sum[3] }' "$sums"
    done
}

# run <seconds> <seed> <target>: says how it went in one line.
run() {
    log=build/fuzz/$3.log
    seconds=$1
    # Its inputs are long: each is hundreds of messages to all state machines of jobs, under one of three arbiters.
    if [ "$3" = job ] && [ "$seconds" = gate ]; then
        seconds=60
    elif [ "$seconds" = gate ]; then
        seconds=10
    fi
    crashes=
    if [ -d "tests/fuzz/crashes/$3" ]; then
        crashes=tests/fuzz/crashes/$3
    fi
    passed=yes
    # shellcheck disable=SC2086  # a folder, or nothing
    "build/fuzz/$3" -max_total_time="$seconds" -seed="$2" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/found/$3/" "build/fuzz/corpus/$3" "build/fuzz/seeds/$3" "tests/fuzz/corpus/$3" $crashes \
        > "$log" 2>&1 || passed=no
    if [ $passed = no ]; then
        failed "$3" "$log" "$2" || return
    fi
    awk -v target="$3" -v seed="$2" '
        /^#[0-9]+.* cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") coverage = $(i + 1) }
        /^Done [0-9]+ runs in/ { runs = $2; seconds = $5 }
        /^messages: / { messages = "; " $0 }
        END {
            printf "%-16s %9d inputs, %6d places reached, %4d s, seed %s%s\n", target, runs, coverage, seconds, seed, messages
            exit runs == 0
        }' "$log"
}

# keep <target>: what reaches more than the seeds do, some of it, as their hashes have it: 64 inputs and 12 kB at most.
keep() {
    kept=build/fuzz/kept/$1
    rm -rf "$kept"
    mkdir -p "$kept"
    cp "build/fuzz/seeds/$1"/* "$kept"
    "build/fuzz/$1" -merge=1 -max_len=4096 "$kept" "tests/fuzz/corpus/$1" "build/fuzz/corpus/$1" > "build/fuzz/$1.log" 2>&1
    rm -rf "tests/fuzz/corpus/$1"
    mkdir -p "tests/fuzz/corpus/$1"
    find "$kept" -name '????????????????????????????????????????' -size +0 -printf '%s %f\n' | LC_ALL=C sort -k 2 | head -n 64 |
        awk '(sum += $1) <= 12000 { print $2 }' | (cd "$kept" && xargs -r cp -t "$OLDPWD/tests/fuzz/corpus/$1")
    echo "$1: $(find "tests/fuzz/corpus/$1" -type f | wc -l) inputs, $(du -sb "tests/fuzz/corpus/$1" | cut -f 1) bytes"
}

[ $# -gt 0 ] || usage
case $1 in
    --build) build "$2"; exit ;;
    --run) run "$2" "$3" "$4"; exit ;;
    --keep-built) keep "$2"; exit ;;
esac
mode=$1
shift
seed=${ALLOT_SEED:-random}
case $mode in
    --gate) seconds=gate seed=${ALLOT_SEED:-2026} ;;
    --keep | --messages) seconds=0 ;;
    *[!0-9]*) usage ;;
    *) seconds=$mode ;;
esac
if [ "$seed" = random ]; then
    seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
fi
if [ "$mode" = --messages ]; then
    need_for library examples fuzz
    messages "${1:?how many}" "$seed"
    exit
fi
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046  # several words
    set -- $(basename -s .cpp tests/fuzz/*.cpp)
fi
need_for library examples fuzz
began=$(date +%s)
printf '%s\n' "$@" | xargs -P "$(cores)" -I '{}' sh tests/fuzz.sh --build '{}'
if [ "$mode" = --keep ]; then
    for target in "$@"; do
        keep "$target"
    done
    exit
fi
echo "== $# targets"
printf '%s\n' "$@" | xargs -P "$(cores)" -I '{}' sh tests/fuzz.sh --run "$seconds" "$seed" '{}'
echo "== fuzz: passed in $(($(date +%s) - began)) s"
