#!/bin/sh
# A stranger's machine: makes a bare Debian 12, puts into it the files that git tracks and nothing else, and does there what the
# README says. On Debian and its relatives, as root, where mounting is allowed:
#
#     sh tests/bare.sh             commands and readme
#     sh tests/bare.sh --all       all of these
#     sh tests/bare.sh NAME ...    some of them
#
#     commands     sh examples/run.sh --short, then sh tests/run.sh
#     readme       the first program of README.md, with no more than the packages that it names; then replay, built and talked
#                  to as examples/replay/README.md says
#     service      allotd alone and with etcd, as examples/service/README.md says: run.sh and cluster.sh, short, with an s390x; then
#                  docs/operating.md
#     swapped      sh tests/run.sh, then sh examples/run.sh --short
#     boost-1.81   as commands, with that Boost
#     compilers    the first program and the smoke test by each compiler of tests/support/compilers.sh, with both Boosts
#
# Each begins with a new copy of the base system, which is Debian's smallest and ccache. Kept from run to run is that base, for
# a month, the packages that were downloaded and what was compiled, in ${XDG_CACHE_HOME:-/var/cache}/allot-bare. Mirrors and proxies are those of this machine's apt; another system is
# made with its name and mirror, as in ALLOT_SYSTEM='jammy http://...' sh tests/bare.sh. ALLOT_JOBS and ALLOT_SEED mean what they
# mean for tests/run.sh. It ends with 77, and says why, where no such system can be made.
set -eu
cd "$(dirname "$0")/.."
exec < /dev/null
. tests/support/debian.sh
PATH=$PATH:/usr/sbin:/sbin
cache=${XDG_CACHE_HOME:-/var/cache}/allot-bare
release=${ALLOT_SYSTEM:-bookworm}
mirror=${release#* }
release=${release%% *}
[ "$mirror" != "$release" ] || mirror=
base=$cache/ccached-$release
kept=$cache/packages-$release
compiled=$cache/compiled-$release

cannot() {
    echo "tests/bare.sh: a bare system cannot be made here: $*" >&2
    exit 77
}

# mirrors: a line `<address> <suite>` for each that this machine takes its Debian 12 from.
mirrors() {
    # shellcheck disable=SC2016  # apt fills these in
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI) $(CODENAME)' 'Created-By: Packages' 2> /dev/null |
        awk -v release="$release" '$1 == "Debian" && $2 == "main" && $4 ~ "^" release "(-updates|-security)?$" { print $3, $4 }' |
        sort -u
}

make_base() {
    rm -rf "$base" "$base.new"
    components=main
    mirrors=
    if [ -n "$mirror" ]; then
        components=main,universe
    else
        apt-get update -qq || true
        mirrors=$(mirrors)
        mirror=$(echo "$mirrors" | awk -v release="$release" '$2 == release { print $1; exit }')
    fi
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}"
    echo "+ debootstrap --variant=minbase --include=ccache $release"
    # Without a mirror debootstrap takes its own.
    if ! debootstrap --variant=minbase --include=ccache --components=$components "$release" "$base.new" ${mirror:+"$mirror"} > "$cache/log" 2>&1; then
        tail -n 5 "$cache/log" >&2
        cannot "debootstrap failed"
    fi
    if [ -n "$mirrors" ]; then
        echo "$mirrors" | sed 's/^/deb /; s/$/ main/' > "$base.new/etc/apt/sources.list"
    fi
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check|Retries)' > "$base.new/etc/apt/apt.conf.d/10machine" || true
    echo force-unsafe-io > "$base.new/etc/dpkg/dpkg.cfg.d/10machine"  # its disk need not survive a crash
    rm -f "$base.new/var/cache/apt/archives/"*.deb
    mv "$base.new" "$base"
}

# part <name> <script>: runs the script in a copy of the base system, in a folder that holds the tracked files. Its mounts and
# its processes end with it.
part() {
    echo "== $1"
    began=$(date +%s)
    system=$(mktemp -d "$cache/system.XXXXXX")
    inside=
    trap '[ -z "$inside" ] || { kill -KILL "$inside"; wait "$inside"; } 2> /dev/null || true; rm -rf "$system"' EXIT
    cp -a "$base/." "$system"
    cp -L /etc/resolv.conf /etc/hosts "$system/etc"
    find "$kept" -name '*.deb' -exec ln -t "$system/var/cache/apt/archives" {} +
    mkdir "$system/root/allot" "$system/var/cache/ccache"
    git ls-files -z | tar --create --null --files-from=- | tar --extract --no-same-owner --directory "$system/root/allot"
    status=0
    # shellcheck disable=SC2016  # for the shell in there
    unshare --mount --pid --fork --kill-child sh -euc '
        mount --rbind /dev "$1/dev"
        mount -t proc proc "$1/proc"
        mount --bind "$0" "$1/var/cache/ccache"
        exec chroot "$@"' "$compiled" "$system" \
        /usr/bin/env -i HOME=/root PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        CCACHE_DIR=/var/cache/ccache \
        ${ALLOT_JOBS:+"ALLOT_JOBS=$ALLOT_JOBS"} ${ALLOT_SEED:+"ALLOT_SEED=$ALLOT_SEED"} \
        sh -euc "cd /root/allot; $2" 9>&- &
    inside=$!
    wait $inside || status=$?
    inside=
    find "$system/var/cache/apt/archives" -name '*.deb' -exec ln -f -t "$kept" {} +
    rm -rf "$system"
    [ $status -eq 0 ] || { echo "== $1 failed with $status"; exit 1; }
    seconds=$(($(date +%s) - began))
    summary="$summary$(printf '%-12s %3d:%02d min' "$1" $((seconds / 60)) $((seconds % 60)))
"
}

case ${1:-} in
    '') set -- commands readme ;;
    --all) set -- commands readme service swapped boost-1.81 compilers ;;
esac
[ "$(id -u)" -eq 0 ] || cannot "that needs root"
unshare --mount --pid --fork sh -c 'mount -t proc proc /proc' 2> /dev/null || cannot "mounting is not allowed"
need_for bare || cannot "there is no debootstrap"
command -v debootstrap > /dev/null || cannot "there is no debootstrap"
mkdir -p "$kept" "$compiled"
exec 9> "$cache/lock"
flock 9  # one at a time
rm -rf "$cache/system."*
if [ -z "$(find "$cache" -maxdepth 1 -name "ccached-$release" -mtime -30)" ]; then
    make_base
fi
trap 'exit 1' HUP INT TERM

commands='sh examples/run.sh --short; sh tests/run.sh'
summary=
for name in "$@"; do
    case $name in
        commands) part "$name" "$commands" ;;
        swapped) part "$name" 'sh tests/run.sh; sh examples/run.sh --short' ;;
        boost-1.81) part "$name" "export ALLOT_BOOST=1.81; $commands" ;;
        compilers) part "$name" 'sh tests/support/compilers.sh' ;;
        service) part "$name" 'sh examples/service/run.sh --short; sh examples/service/cluster.sh --big-endian --short
                python3 examples/service/check_operating.py' ;;
        readme)
            # The page, the snippet in it and the line that builds replay are the README's own, not copies.
            # shellcheck disable=SC2016  # for the shell in there
            part "$name" '
                sh tests/house/readme.sh
                sh tests/support/run_blocks.sh README.md /root/README.md
                diff -u README.md /root/README.md
                replay=$(sh -c "$(sed -n "s/^    \(sh examples.build\.sh [a-z]*\).*/\1/p" examples/replay/README.md)")
                . tests/support/debian.sh
                need python3
                sh examples/replay/check_readme.sh "$replay"'
            ;;
        *)
            echo "There is no part $name; see the first lines of tests/bare.sh" >&2
            exit 2
            ;;
    esac
done
echo "== all parts passed"
printf '%s' "$summary"
