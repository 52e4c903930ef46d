#!/bin/bash
# The founding story from its first failure to a server that serves, on the stand-in driver: nothing is proposed twice, garbage is
# remembered, what worked comes first, and on datacenter Blackwell the order is another.
. "$(dirname "$0")/lib.sh"

root=$work/root
mkdir -p "$root"/{sys/module/nvidia,dev,proc,sys/bus/pci/devices}
echo 580.95.05 >"$root/sys/module/nvidia/version"
touch "$root"/dev/{nvidiactl,nvidia0,nvidia-uvm}
export DIAGNOSE_DEVICE_ROOT=$root LD_LIBRARY_PATH=$BUILD_DIR/tests/fake/whole
workstation='8x12.0:NVIDIA RTX PRO 6000 Blackwell Server Edition'
export FAKE_GPUS=$workstation

# launch STORY BACKEND DAY: the story's server log as if started with that MoE runner, on that day.
launch() {
    sed -e "s/moe_runner_backend='[a-z_]*'/moe_runner_backend='$2'/" -e "s/--moe-runner-backend [a-z_]*/--moe-runner-backend $2/" \
        -e "s/^\\[2026-[0-9-]*/[2026-06-$3/" "$cases/$1/server.log" >server.log
}
# The value of the first proposal that `next` names, or nothing.
proposed() {
    "$DIAGNOSE" next --format json 2>/dev/null | python3 -c 'import json,sys; r=json.load(sys.stdin)["rows"]; print(r[0].get("value") or "" if r else "")'
}
refused() { # VALUE WHEN
    ! "$DIAGNOSE" --last --format json | python3 -c 'import json,sys; sys.exit(sys.argv[1] not in [p.get("value") for p in json.load(sys.stdin)["proposals"]])' "$1" ||
        fail "$1 is proposed $2"
}

if ! command -v python3 >/dev/null; then
    echo "python3 is not here: not run"
    exit 77
fi

# 1. The first command is known to fail before any weight is read, and why.
run preflight --format json -- python -m sglang.launch_server --model-path /models/Qwen3.5-397B-A17B-NVFP4 --tp-size 8 --moe-runner-backend flashinfer_trtllm
want_status 1 "preflight of the first command"
want_out "runs on 10.x, this GPU is 12.0"

# 2. It fails; the catalog names another way of being compiled.
launch story-a flashinfer_trtllm 01
run --kernel-log "$cases/story-a/dmesg.txt" server.log
want_status 1 "the first launch"
want_out "arch-mismatch/sm-guard"
first=$(proposed)
[ "$first" = flashinfer_cutlass ] || fail "first proposal: '$first'"
refused flashinfer_trtllm "after it failed"

# 3. That one comes up and answers garbage: never again for this key.
launch story-f "$first" 02
run server.log
want_status 0 "the second launch"
run outcome garbage
want_status 0 "outcome garbage"
launch story-a flashinfer_trtllm 03
run server.log
want_status 1 "the first command again"
refused "$first" "after it gave garbage"
second=$(proposed)
case $second in
"" | "$first" | flashinfer_trtllm) fail "second proposal: '$second'" ;;
esac

# 4. The next one works: it comes first from now on, also for a new process (history is all that is kept).
launch story-f "$second" 04
run server.log
run outcome works
want_status 0 "outcome works"
launch story-a flashinfer_trtllm 05
run server.log
[ "$(proposed)" = "$second" ] || fail "what worked is not first: '$(proposed)'"
want_out "verified-here"
run matrix --format json
want_out '"garbage"'
want_out '"works"'

# 5. Datacenter Blackwell has kernels for the first choice: another order, and nothing above counts there.
export FAKE_GPUS='8x10.0:NVIDIA B200'
run preflight -- python -m sglang.launch_server --model-path /models/Qwen3.5-397B-A17B-NVFP4 --tp-size 8 --moe-runner-backend flashinfer_trtllm
[ "$status" != 1 ] || fail "preflight refuses flashinfer_trtllm on 10.0"
run --no-record --format json server.log
python3 - "$work/out" <<'PY' || fail "the order on 10.0"
import json, sys
values = [p["value"] for p in json.load(open(sys.argv[1]))["proposals"] if p["axis"] == "moe-runner-backend"]
sys.exit(not (values and values[0] == "flashinfer_cutedsl"))
PY
finish
