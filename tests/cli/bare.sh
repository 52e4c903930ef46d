#!/bin/bash
# Where servers really run: no user of ours, nothing to write to, no home, no /proc, no kernel log, a namespace of one's own. There is
# always a diagnosis, and under "not checked" the command for the host that would supply what is missing.
. "$(dirname "$0")/lib.sh"
unset HOME
chmod 755 "$work"
cp "$cases/story-b/server.log" killed.log # ends in "Killed": only the host's kernel log tells why
cp "$cases/story-a/server.log" guard.log
chmod 644 ./*.log
root=
[ "$(id -u)" = 0 ] && root=yes

# What must be in every such report, whatever is missing around it.
judged() { # WHAT
    want_status 3 "$1"
    grep -q '^inconclusive: ' out || fail "$1: no diagnosis: $(head -c 300 out)"
    tr '\n' ' ' <out | tr -s ' ' | grep -qF 'Unchecked: no kernel log: dmesg -T > dmesg.txt on the host, then diagnose --kernel-log dmesg.txt LOG' ||
        fail "$1: the host's command for the kernel log is not told: $(grep Unch out)"
    grep -qiE 'internal|assert|fault' err && fail "$1: $(head -n 2 err)"
    return 0
}
bare() { # WHAT COMMAND...: the log that needs the kernel's, then the one that does not
    local what=$1
    shift
    status=0
    "$@" --device 12.0 killed.log >out 2>err </dev/null || status=$?
    judged "$what"
    status=0
    "$@" --device 12.0 guard.log >out 2>err </dev/null || status=$?
    want_status 1 "$what, a cause that the log holds"
    want_out "arch-mismatch/sm-guard"
}

# ---- no home, or one that is none
bare "no HOME" env -u HOME "$DIAGNOSE"
want_err "not recorded: no place for a history"
bare "HOME=/" env HOME=/ "$DIAGNOSE"
want_err "not recorded: no place for a history"
[ ! -e /.local/state/diagnose ] || fail "HOME=/ was written to"
bare "a relative HOME" env HOME=home "$DIAGNOSE"
bare "no environment at all" env -i "$DIAGNOSE"
status=0
env -u HOME "$DIAGNOSE" run --no-device -- sh -c 'cat guard.log; exit 4' >out 2>err </dev/null || status=$?
want_status 4 "run without HOME"
want_err "arch-mismatch/sm-guard"
want_err "the log is not kept"

# ---- somebody else, who may not read the kernel log
if [ "$root" ] && command -v setpriv >/dev/null; then
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
    bare nobody env HOME=/root "${nobody[@]}" "$DIAGNOSE"
    want_err "not recorded"
    if "${nobody[@]}" dmesg >/dev/null 2>&1; then
        echo "everybody may read the kernel log here: NOT TESTED: one who may not"
    else
        bare "no permission to read the kernel log" "${nobody[@]}" "$DIAGNOSE" --kernel-log auto
        want_err "sudo dmesg | diagnose --kernel-log -"
    fi
    status=0
    "${nobody[@]}" "$DIAGNOSE" run --device 12.0 -- sh -c 'cat killed.log; kill -KILL $$' >out 2>err </dev/null || status=$?
    want_status 137 "run as nobody"
    want_err "the log is not kept"
else
    echo "not root, or no setpriv: NOT TESTED: another user"
fi

# ---- a root that cannot be written to
if [ "$root" ] && unshare -m true 2>/dev/null; then
    cat >read-only.sh <<'EOF'
mount --make-rprivate / 2>/dev/null
for place in / "$PWD" /tmp /var/tmp /dev/shm; do
    [ -d "$place" ] && { mount -o bind "$place" "$place" && mount -o remount,bind,ro "$place"; } 2>/dev/null
done
cd "$PWD" && ! touch try 2>/dev/null || exit 99
exec "$@"
EOF
    frozen=(env HOME="$work/home" unshare -m bash read-only.sh)
    status=0
    "${frozen[@]}" true || status=$?
    if [ $status = 0 ]; then
        bare "a read-only root" "${frozen[@]}" "$DIAGNOSE"
        want_err "not recorded"
        status=0
        "${frozen[@]}" "$DIAGNOSE" run --no-device -- echo started >out 2>err </dev/null || status=$?
        want_status 0 "run where no log can be kept"
        want_out started
        want_err "--log FILE keeps it"
    else
        echo "a read-only root cannot be made here: NOT TESTED"
    fi
else
    echo "not root, or no namespaces: NOT TESTED: a read-only root"
fi

# ---- a pid namespace: other processes are not seen, and that is told
fake=$BUILD_DIR/tests/fake/whole
mkdir -p driver/sys/module/nvidia driver/dev driver/sys/bus/pci/devices
echo 580.95.05 >driver/sys/module/nvidia/version
touch driver/dev/nvidiactl driver/dev/nvidia0 driver/dev/nvidia-uvm
gpu=(env DIAGNOSE_DEVICE_ROOT="$work/driver" LD_LIBRARY_PATH="$fake" "FAKE_GPUS=1x12.0:NVIDIA RTX PRO 6000")
status=0
"${gpu[@]}" "$DIAGNOSE" --no-record killed.log >out 2>err </dev/null || status=$?
judged "a GPU, and no /proc"
tr '\n' ' ' <out | tr -s ' ' | grep -qF 'no /proc here: who holds the GPUs is not known; on the host: fuser -v /dev/nvidia*' ||
    fail "holders without /proc are not told to be unknown: $(grep Unch out)"
ln -s /proc driver/proc
if [ "$root" ] && unshare -p -f --mount-proc true 2>/dev/null; then
    bare "a pid namespace" unshare -p -f --mount-proc "$DIAGNOSE"
    status=0
    "${gpu[@]}" unshare -p -f --mount-proc "$DIAGNOSE" --no-record killed.log >out 2>err </dev/null || status=$?
    judged "a GPU in a pid namespace"
    tr '\n' ' ' <out | tr -s ' ' | grep -qF 'on the host: fuser -v /dev/nvidia*' || fail "holders outside of the namespace are not told to be unseen: $(grep Unch out)"
    status=0
    unshare -p -f --mount-proc "$DIAGNOSE" run --no-record --device 12.0 --log ns.log -- sh -c 'cat guard.log; sleep 60 & exit 3' >out 2>err </dev/null || status=$?
    want_status 3 "run as the first process of a pid namespace"
    want_err "left behind"
    # As the first process of a container it is told to end by SIGTERM, which the kernel keeps from those that do not handle it.
    # shellcheck disable=SC2016
    unshare -p -f --mount-proc "$DIAGNOSE" run --no-record --no-device --log ns.log -- bash -c 'trap "exit 7" TERM; echo >up; for i in {1..100}; do sleep 0.2; done' \
        >out 2>err </dev/null &
    outer=$!
    until [ -e up ]; do sleep 0.1; done
    first=$(cut -d " " -f 1 "/proc/$outer/task/$outer/children")
    kill -TERM "$first"
    status=0
    wait $outer || status=$?
    want_status 7 "SIGTERM to the first process of a pid namespace"
else
    echo "not root, or no namespaces: NOT TESTED: a pid namespace"
fi

# ---- no /proc, no library, no rules: the one file
if [ "$root" ] && [ -x "$BUILD_DIR/onefile/diagnose" ] && command -v chroot >/dev/null; then
    mkdir bare
    cp "$BUILD_DIR/onefile/diagnose" killed.log guard.log bare/
    ldd bare/diagnose | sed -n 's/.* => \(\/[^ ]*\).*/\1/p; s/^\t\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
        mkdir -p "bare$(dirname "$library")"
        cp -L "$library" "bare$library"
    done
    bare "no /proc" env -i "$(command -v chroot)" bare /diagnose
    want_err "not recorded: no place for a history"
    status=0
    env -i "$(command -v chroot)" bare /diagnose device >out 2>err </dev/null || status=$?
    want_status 0 "device without /proc"
    [ -s out ] || fail "device without /proc says nothing"
else
    echo "not root, or no one file: NOT TESTED: a root without /proc"
fi
finish
