#!/bin/sh
# Builds the program of tests/determinism for many compilers and machines, runs it, and compares what it prints with
# tests/determinism/golden.txt, the same for all. On a Debian 12 of x86-64; installs what is missing:
#
#     sh tests/determinism.sh [--short] [target ...]
#
#     gcc gcc11 clang14 clang16 clang19    x86-64 by these compilers; libcxx is clang 16 with libc++
#     O0 O2 fast                           x86-64 by g++; fast is -O3 -march=native -ffast-math
#     no-exceptions no-rtti                x86-64 by g++ without these; the program runs all the same
#     i686 aarch64 armhf riscv64           other machines, emulated; s390x and ppc64 have the highest byte first
#     s390x ppc64 win64
#     general-regs                         aarch64 without registers for floating point; only compiled
#     follower                             a random log of replicas: x86-64 and s390x make the same attestations and
#                                          checkpoints of it, and each goes on from the other's checkpoint
#
# Without a target: all. --short gives fewer commands to fewer scenarios, and takes gcc, clang14, i686, aarch64, s390x and
# follower.
# `sh tests/determinism.sh --golden` writes golden.txt anew, for a change that is meant to change what happens.
set -eu
cd "$(dirname "$0")/.."
. tests/support/debian.sh

golden=tests/determinism/golden.txt
build=build/determinism

# describe <target>: sets compiler, flags, packages, and how to run it.
describe() {
    compiler=g++
    flags=-O1
    packages=
    runner=
    case $1 in
        gcc) packages=g++ ;;
        gcc11) compiler=g++-11 packages=g++-11 ;;
        clang14 | clang16 | clang19) compiler=clang++-${1#clang} packages=clang-${1#clang} ;;
        libcxx) compiler=clang++-16 flags="-O1 -stdlib=libc++" packages="clang-16 libc++-16-dev libc++abi-16-dev" ;;
        O0) flags=-O0 packages=g++ ;;
        O2) flags=-O2 packages=g++ ;;
        fast) flags="-O3 -march=native -ffast-math" packages=g++ ;;
        no-exceptions) flags="-O1 -fno-exceptions" packages=g++ ;;
        no-rtti) flags="-O1 -fno-rtti" packages=g++ ;;
        i686) cross i686-linux-gnu qemu-i386-static ;;  # a kernel for 64 bits alone runs it too
        aarch64) cross aarch64-linux-gnu qemu-aarch64-static ;;
        armhf) cross arm-linux-gnueabihf qemu-arm-static ;;
        riscv64) cross riscv64-linux-gnu qemu-riscv64-static ;;
        s390x) cross s390x-linux-gnu qemu-s390x-static ;;
        ppc64) cross powerpc64-linux-gnu qemu-ppc64-static ;;
        win64)
            compiler=x86_64-w64-mingw32-g++ flags="-O1 -static" packages="g++-mingw-w64-x86-64 wine64"
            runner="env WINEPREFIX=$PWD/$build/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= /usr/lib/wine/wine64"
            ;;
        general-regs)
            cross aarch64-linux-gnu
            flags="-O1 -mgeneral-regs-only -c"
            ;;
        follower) packages="g++ g++-s390x-linux-gnu qemu-user-static" ;;
        *)
            echo "There is no target $1; see the first lines of tests/determinism.sh" >&2
            exit 2
            ;;
    esac
}

# cross <triple> [emulator]
cross() {
    compiler=$1-g++ flags="-O1 -static" packages="g++-$1 ${2:+qemu-user-static}" runner=${2:-}
}

# prints <what>: runs the program of this target.
prints() {
    # shellcheck disable=SC2086  # words
    $runner "$here/program.exe" "$commands" 2> "$here/said" | tr -d '\r' > "$here/printed"
    grep -v '^wine: ' "$here/said" > "$here/complaints" || true  # such as where it keeps its own
    [ ! -s "$here/complaints" ] && [ -s "$here/printed" ]
}

# verdict: says how this target fared, in a line of the table.
verdict() {
    began=$(date +%s)
    # shellcheck disable=SC2086  # words
    if ! ${CMAKE_CXX_COMPILER_LAUNCHER:-} $compiler -std=c++20 $flags $short -isystem "$build/include" -Iinclude -Itests \
        tests/determinism/all.cpp -o "$here/program.exe" > "$here/compiler" 2>&1; then
        echo "does not compile: $here/compiler"
        return
    fi
    built=$(date +%s)
    seconds="$((built - began)) s"
    case $flags in
        *-c) echo "$seconds  ok, compiled"; return ;;
    esac
    if ! prints; then
        echo "fails: $(head -n 1 "$here/complaints")"
        return
    fi
    seconds="$seconds + $(($(date +%s) - built)) s"
    digest=$(tail -n 1 "$here/printed" | cut -c 1-16)
    first=$(sed -n "s/^$form //p" "$golden" | diff - "$here/printed" | sed -n 's/^[<>] [0-9a-f]* //p' | head -n 1)
    if [ -z "$first" ]; then
        echo "$digest  $seconds  ok"
    else
        echo "$digest  $seconds  differs from \"$first\" on"
    fi
}

# follower: says how the followers of a log fared, in a line of the table.
follower() {
    began=$(date +%s)
    options="-std=c++20 -O1 -isystem $build/include -Iinclude -Itests"
    for source in tests/determinism/replica_log.cpp cmake/compiled/dispatcher.cpp cmake/compiled/guard.cpp \
        examples/service/follower/main.cpp; do
        # shellcheck disable=SC2086  # words
        if ! ${CMAKE_CXX_COMPILER_LAUNCHER:-} g++ $options -c $source -o "$here/$(basename "$source").o" > "$here/compiler" 2>&1; then
            echo "does not compile: $here/compiler"
            return
        fi
    done
    # shellcheck disable=SC2086  # words
    if ! { ${CMAKE_CXX_COMPILER_LAUNCHER:-} s390x-linux-gnu-g++ $options -c examples/service/follower/main.cpp -o "$here/s390x.o" &&
        s390x-linux-gnu-g++ -static "$here/s390x.o" -o "$here/s390x.exe" && g++ "$here/main.cpp.o" -o "$here/native.exe" &&
        g++ "$here/replica_log.cpp.o" "$here/dispatcher.cpp.o" "$here/guard.cpp.o" -o "$here/log.exe"; } > "$here/compiler" 2>&1; then
        echo "does not compile: $here/compiler"
        return
    fi
    built=$(date +%s)
    if ! (
        entries=$((commands * 5))
        other="qemu-s390x-static ./s390x.exe"
        cd "$here" &&
            ./log.exe $entries > log &&
            ./native.exe < log > native &&
            $other < log > s390x &&
            cmp native s390x &&
            ./native.exe --entries $((entries / 2)) --to native.half < log > /dev/null &&
            $other --entries $((entries / 2)) --to s390x.half < log > /dev/null &&
            cmp native.half s390x.half &&
            ./native.exe --from s390x.half < log > native.rest &&
            $other --from native.half < log > s390x.rest &&
            cmp native.rest s390x.rest &&
            tail -n "$(wc -l < native.rest)" native | cmp - native.rest &&
            { [ "$(grep -c -v ' -$' native)" -gt 10 ] || { echo "hardly any state is attested" && false; }; }
    ) > "$here/complaints" 2>&1; then
        echo "fails: $(grep -v ALLOT_SEED "$here/complaints" | head -n 1)"
        return
    fi
    digest=$(tail -n 1 "$here/native" | cut -d ' ' -f 5 | cut -c 1-16)
    echo "$digest  $((built - began)) s + $(($(date +%s) - built)) s, $(wc -l < "$here/native") lines, $(wc -c < "$here/log") bytes  ok"
}

form=full
commands=10000
short=
if [ "${1:-}" = --short ]; then
    form=short commands=1000 short=-DDETERMINISM_SHORT
    shift
fi

if [ "${1:-}" = --one ]; then  # one target, as called below
    describe "$2"
    here=$build/$form-$2
    mkdir -p "$here"
    how=verdict
    [ "$2" != follower ] || how=follower
    printf '%-14s %-24s %-28s %s\n' "$2" "$compiler" "$flags" "$($how)" > "$here/line"
    cat "$here/line"
    exit 0
fi

mkdir -p "$build/include"
for library in boost tl; do  # and nothing else of /usr/include, which another machine must not see
    ln -sfn "/usr/include/$library" "$build/include/$library"
done

if [ "${1:-}" = --golden ]; then
    need_for library
    {
        sed '/^#/!d' "$golden"
        for form in full short; do
            sh tests/determinism.sh $([ $form = full ] || echo --short) --one gcc > /dev/null
            if grep -q fails "$build/$form-gcc/line"; then
                cat "$build/$form-gcc/line" >&2
                exit 1
            fi
            sed "s/^/$form /" "$build/$form-gcc/printed"
        done
    } > "$golden.new"
    mv "$golden.new" "$golden"
    git diff --stat "$golden"
    exit 0
fi

if [ $# -eq 0 ]; then
    set -- gcc clang14 i686 aarch64 s390x follower
    [ $form = short ] || set -- "$@" O0 O2 fast gcc11 clang16 clang19 libcxx armhf riscv64 ppc64 win64 no-exceptions no-rtti \
        general-regs
fi

began=$(date +%s)
need_for library
all=
for target in "$@"; do
    describe "$target"
    all="$all $packages"
done
# shellcheck disable=SC2046  # words
need $(printf '%s\n' $all | sort -u)
rm -rf "$build/$form-"*
[ $form = full ] || set -- --short "$@"
if [ "$1" = --short ]; then
    shift
    printf '%s\n' "$@" | xargs -P "$(cores)" -n 1 sh tests/determinism.sh --short --one
else
    printf '%s\n' "$@" | xargs -P "$(cores)" -n 1 sh tests/determinism.sh --one
fi
echo "== $form form, $(grep -c "^$form " "$golden") digests of $commands commands each, $(($(date +%s) - began)) s"
bad=no
for target in "$@"; do
    cat "$build/$form-$target/line"
    grep -Eq ' ok(, compiled)?$' "$build/$form-$target/line" || bad=yes
done
if [ $bad = yes ]; then
    echo "Not all targets print what tests/determinism/golden.txt says."
    exit 1
fi
