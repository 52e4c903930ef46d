#!/bin/bash
# NVIDIA's own user-mode driver (Debian's non-free packages, fetched when the package manager has them) on a machine without a GPU: the
# reason is told right and nothing appears in /dev, also for root. Where they cannot be had, or where a GPU is, nothing is tested.
. "$(dirname "$0")/lib.sh"
skip() {
    echo "$*: not tested"
    exit 77
}
sources=/etc/apt/sources.list.d/debian.sources
if [ ! -e "$sources" ] || ! command -v apt-get >/dev/null; then skip "no Debian package sources"; fi
[ ! -e /sys/module/nvidia ] || skip "a driver is loaded here"
mkdir -p parts lists/partial packages
sed 's/^Components: .*/Components: non-free/' "$sources" >parts/nonfree.sources
apt=(timeout 60 apt-get -qq -oDir::Etc::sourcelist=/dev/null -oDir::Etc::sourceparts="$work/parts" -oDir::State::lists="$work/lists"
    -oAPT::Sandbox::User=root)
"${apt[@]}" update >/dev/null 2>&1 || skip "the package lists cannot be had"
(cd packages && "${apt[@]}" download libcuda1 libnvidia-ml1 >/dev/null 2>&1) || skip "the packages cannot be had"
for package in packages/*.deb; do dpkg-deb -x "$package" real; done
libraries=$(dirname "$(find "$work/real" -name libcuda.so.1 | head -n 1)")
[ -e "$libraries/libcuda.so.1" ] || skip "the package holds no libcuda.so.1"
export LD_LIBRARY_PATH=$libraries

nodes() { find /dev -maxdepth 1 -name 'nvidia*' | sort; }
before=$(nodes)
run device --check
want_status 3 "no GPU, real driver library"
want_out "no NVIDIA GPU on this machine's PCI bus and no driver loaded"
run --no-record "$cases/story-a/server.log"
want_status 1 "a diagnosis beside the real driver library"
[ "$(nodes)" = "$before" ] || fail "/dev has changed: $(nodes)"

# As if a module were loaded, the library itself is asked, as a user who can create no node: it says that there is no GPU.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir -p root/sys/module/nvidia root/dev root/proc
    echo 535.309.01 >root/sys/module/nvidia/version
    touch root/dev/nvidiactl
    chmod 666 root/dev/nvidiactl
    chmod -R a+rX "$work"
    DIAGNOSE_DEVICE_ROOT=$work/root HOME=/nonexistent setpriv --reuid 65534 --clear-groups "$DIAGNOSE" device >out 2>err </dev/null || true
    want_out "cuInit sees no GPU (100)"
    [ "$(nodes)" = "$before" ] || fail "/dev has changed: $(nodes)"
fi
finish
