#!/usr/bin/env bash
# The live look, against the stand-in driver: answers, refusals, hangs, crashes. Each command ends within its deadline and half a second.
. "$(dirname "$0")/lib.sh"

root=$work/root
mkdir -p "$root"/{sys/module/nvidia,dev,proc,sys/bus/pci/devices}
echo 580.95.05 >"$root/sys/module/nvidia/version"
touch "$root"/dev/{nvidiactl,nvidia0,nvidia1,nvidia-uvm}
ln -s /proc/self "$root/proc/self"
fake=$BUILD_DIR/tests/fake
export DIAGNOSE_DEVICE_ROOT=$root

# look FOLDER [VAR=VALUE...] -- ARG...: run diagnose with the stand-in; out holds both outputs, took the milliseconds.
look() {
    local folder=$1 vars=() start
    shift
    while [ "$1" != -- ]; do
        vars+=("$1")
        shift
    done
    shift
    start=$(date +%s%N)
    status=0
    env LD_LIBRARY_PATH="$fake/$folder" "${vars[@]}" "$DIAGNOSE" "$@" >"$work/out" 2>&1 </dev/null || status=$?
    took=$((($(date +%s%N) - start) / 1000000))
}
expect() { # WHAT PATTERN
    grep -qE -- "$2" "$work/out" || fail "$1: no '$2' in: $(head -c 1000 "$work/out")"
}
within() { # WHAT MS
    [ "$took" -le "$2" ] || fail "$1 took $took ms, allowed $2"
}
gpus8='FAKE_GPUS=8x12.0:NVIDIA RTX PRO 6000 Blackwell Server Edition'
mixed='FAKE_GPUS=1x8.6:NVIDIA A10,1x12.0:NVIDIA GeForce RTX 5090'

look whole "$gpus8" -- device
expect "eight GPUs" '^7  NVIDIA RTX PRO 6000 Blackwell Server Edition  12\.0 Blackwell  95\.0 of 96\.0 GiB free'
expect "driver" 'driver 580\.95\.05, CUDA up to 13\.0'
look whole "$mixed" -- device --format json
expect "mixed: first" '"compute_capability": "8\.6"'
expect "mixed: second" '"compute_capability": "12\.0"'

declare -A says=([3]=LD_PRELOAD [34]=stub [46]=busy [100]='sees no GPU' [304]='operating system' [802]=fabricmanager [803]='kernel module differ'
    [804]='forward compatibility' [999]='unknown driver error')
for code in "${!says[@]}"; do
    look whole "$gpus8" "FAKE_INIT=$code" -- device
    expect "cuInit $code" "${says[$code]}"
    within "cuInit $code" 1500
done
look whole "$gpus8" FAKE_INIT=100 FAKE_NVML_INIT=4 -- device
expect "NVML tells why" 'no permission'
look whole "$gpus8" FAKE_NVML_INIT=9 -- device
expect "NVML refuses, the driver answers" '^7  NVIDIA RTX PRO 6000.*\? of 96\.0 GiB'
look nonvml "$gpus8" -- device
expect "no NVML" 'free memory not known'
look old "$gpus8" -- device
expect "old driver" 'no cuDeviceGetAttribute'

for call in cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetAttribute cuDeviceTotalMem_v2 cuDeviceGetUuid \
    cuDeviceGetPCIBusId cuDeviceGetName nvmlInit_v2 nvmlDeviceGetCount_v2 nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetName \
    nvmlDeviceGetMemoryInfo nvmlDeviceGetComputeRunningProcesses_v3; do
    look whole "$gpus8" "FAKE_CRASH=$call" -- device
    expect "crash in $call" 'crashed in'
    within "crash in $call" 1500
    look whole "$gpus8" "FAKE_HANG=$call" -- device --device-timeout 0.3
    expect "hang in $call" 'does not come back from|still initialising'
    within "hang in $call" 800
done
look whole "$gpus8" FAKE_FLOOD=cuInit -- device
expect "flood" 'gave no usable answer'
look whole "$gpus8" FAKE_COUNT=100000 -- device
expect "a count that is a lie" 'answered 100000'

# Slow but healthy: device waits for each GPU, a diagnosis says that it is still going on.
look whole "$mixed" FAKE_SLOW=2.2 -- device
expect "slow start, waited for" '^1  NVIDIA GeForce RTX 5090'
printf 'Traceback (most recent call last):\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n' >"$work/s.log"
look whole "$mixed" FAKE_SLOW=2.5 FAKE_NVML_INIT=9 -- --no-record --verbose "$work/s.log"
expect "slow start, in a diagnosis" 'still initialising'
within "slow start, in a diagnosis" 2900

# Clean or not; pids that are not ours to see are never offered to kill.
look whole "$gpus8" -- device --check
want_status 0 "clean machine"
look whole "$gpus8" FAKE_PIDS=4242:40000 -- device --check
want_status 1 "held GPU"
expect "holder" 'held by 4242'
! grep -q 'kill 4242' "$work/out" || fail "offers to kill a foreign pid"

# MPS: its daemon and server have one process name; the server is never offered to kill.
process() { # PID NAME COMMAND [GPU]
    mkdir -p "$root/proc/$1/fd"
    echo "$2" >"$root/proc/$1/comm"
    printf '%s\0' "$3" -d >"$root/proc/$1/cmdline"
    [ $# -lt 4 ] || ln -s "/dev/nvidia$4" "$root/proc/$1/fd/3"
}
process 811 nvidia-cuda-mps /usr/bin/nvidia-cuda-mps-control
process 815 nvidia-cuda-mps nvidia-cuda-mps-server 1
mkdir -p "$root/tmp/nvidia-mps"
mkfifo "$root/tmp/nvidia-mps/control"
look whole "$gpus8" -- device --check
want_status 1 "a GPU that the MPS server holds"
expect "MPS" '^MPS: control daemon 811, server 815, pipes in /tmp/nvidia-mps$'
expect "the GPU of the MPS server" '^1 .* GiB free, MPS$'
! grep -qE '^0 .*MPS|kill' "$work/out" || fail "MPS on a GPU without it, or offered to kill: $(cat "$work/out")"
look whole "$gpus8" FAKE_COMPUTE_MODE=3 -- device --format json
for row in '"mps": true' '"mps": false' '"mps_control": 811' '"mps_server": 815' '"mps_pipes": "/tmp/nvidia-mps"' \
    '"compute_mode": "exclusive-process"'; do
    expect "MPS in JSON" "$row"
done
rm -r "$root/proc/811" "$root/proc/815"
look whole "$gpus8" -- device
expect "MPS pipes alone" '^MPS: no control daemon is seen here, pipes in /tmp/nvidia-mps$'
look whole "$gpus8" CUDA_MPS_PIPE_DIRECTORY=/elsewhere -- device
! grep -q MPS "$work/out" || fail "pipes that CUDA_MPS_PIPE_DIRECTORY does not name"
rm -r "$root/tmp"

# A diagnosis says whose memory it was, and what the GPUs hold before a retry.
rm "$root/proc/self" # or this container would be seen, where "nobody" is not known
now=$(date -d '-2 minutes' '+%Y-%m-%d %H:%M:%S')
cat >"$work/oom.log" <<END
[$now TP0] Load weight begin. avail mem=94.00 GB
[$now TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=5.00 GB
Traceback (most recent call last):
  File "/opt/sglang/srt/model_executor/cuda_graph_runner.py", line 500, in capture_one_batch_size
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 95.00 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 92.00 GiB memory in use.
END
sed 's/92.00/60.00/' "$work/oom.log" >"$work/others.log"
sed '1s/94.00/50.00/; s/ this process has .*//' "$work/oom.log" >"$work/start.log"
one='FAKE_GPUS=1x12.0:NVIDIA RTX PRO 6000'
look whole "$one" -- --no-record "$work/oom.log"
expect "its own" 'oom-device/graph-capture'
expect "a clean GPU" '^  0 GPU 0: 95\.0 of 96\.0 GiB free now, nobody holds it$'
look whole "$one" -- --no-record --device 12.0 "$work/oom.log"
expect "a stated device" 'diagnose device --check'
! grep -q 'free now' "$work/out" || fail "speaks of live GPUs for a stated one"
look whole "$one" -- --no-record "$work/others.log"
expect "the message's numbers" 'oom-device/other-process .*others held 34\.0 of 95\.0'
look whole "$one" -- --no-record --format json "$work/others.log"
expect "the numbers are evidence" '"note": "others held 34\.0 of 95\.0 GiB"'
look whole "$one" -- run --log "$work/run.raw" -- sh -c "cat '$work/start.log'; exit 1"
expect "what was free at the start" 'oom-device/other-process .*others held 46\.0 of 96\.0 GiB at the start'
process 4242 sglang::schedul sglang::scheduler
process 77 Xorg /usr/lib/xorg/Xorg
echo '100000.00 0' >"$root/proc/uptime"
echo "4242 (sglang::schedul) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0" >"$root/proc/4242/stat"
look whole "$one" FAKE_FREE_MB=50000 FAKE_PIDS=4242:40000,77:500 -- run --log "$work/run.raw" -- sh -c "cat '$work/oom.log'; exit 1"
expect "a holder from before" 'oom-device/other-process .*others held 39\.1 of 96\.0 GiB'
expect "its name" 'holding GPU memory now and before this launch: 4242 sglang'
expect "the state" '^  0 GPU 0: 48\.8 of 96\.0 GiB free now, held by 4242 sglang::schedul, 39\.1 GiB'
expect "the look" 'look first:  ps -o pid,user,lstart,cmd -p 4242 77$'
expect "the end of a leftover alone" 'then, if it is a leftover:  kill 4242$'
for form in markdown html json; do
    look whole "$one" FAKE_FREE_MB=50000 FAKE_PIDS=4242:40000 -- --no-record --format "$form" "$work/oom.log"
    expect "$form" 'kill 4242'
done
rm -r "$root/proc/4242" "$root/proc/77"

# A library that the evidence names is looked at, on this machine: which architectures it holds, and nothing else of it.
zeros() { head -c "$1" /dev/zero; }
library() { # FILE ARCH: an ELF file without sections, with a container of machine code for one architecture (octal)
    {
        printf '\177ELF\2\1\1' && zeros 9 && printf '\3\0\76\0' && zeros 44
        printf '\120\355\125\272\1\0\20\0\120' && zeros 7 && printf '\2\0\0\0\100\0\0\0\20' && zeros 17
        printf "\\10\\0\\$2" && zeros 51
    } >"$1"
}
mkdir -p "$work/site/pkg"
site=$work/site/pkg
library "$site/ops.abi3.so" 132 # 90
library "$site/fits.so.12" 170  # 120
no_image() { # PATH: a log whose stack names it
    cat >"$work/image.log" <<END
RuntimeError: CUDA error: no kernel image is available for execution on the device
Exception raised from c10_cuda_check_implementation at CUDAException.cpp:44 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f0e8c5b21f3 in $site/libc10.so)
frame #1: run(int) + 0x1b3 (0x7f0e8c5b21f3 in $1)
END
}
no_image "$site/ops.abi3.so"
look whole "$one" -- --no-record "$work/image.log"
expect "architectures beside the GPU's" '^  ops\.abi3\.so here: sm_90; GPU 12\.0: does-not-load$'
for form in markdown html; do
    look whole "$one" -- --no-record --format "$form" "$work/image.log"
    expect "$form" 'ops.*abi3.*so here: sm.*90; GPU 12\.0: does-not-load'
done
look whole "$one" -- --no-record --format json "$work/image.log"
expect "JSON: path" "\"path\": \"$site/ops\.abi3\.so\""
expect "JSON: architectures" '"sm_90"'
expect "JSON: verdict" '"verdict": "does-not-load"'
for option in --no-device '--device 12.0'; do
    # shellcheck disable=SC2086  # an option and its value
    look whole "$one" -- --no-record $option "$work/image.log"
    ! grep -q 'ops.abi3' "$work/out" || fail "$option: looked at a file"
done
echo "ImportError: $site/fits.so.12: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE" >"$work/symbol.log"
look whole "$one" -- --no-record "$work/symbol.log"
expect "owner of an undefined symbol" '^  fits\.so\.12 here: sm_120; GPU 12\.0: loads$'

# Whatever a log names: nothing but a regular library is opened, none of it is shown, and nothing waits.
mkfifo "$site/fifo.so"
mkdir "$site/folder.so"
ln -s /dev/zero "$site/device.so"
ln -s ops.abi3.so "$site/link.so"
ln -s loop.so "$site/loop.so"
echo 'hf_secretsecretsecretsecretsecret' >"$site/text.so"
printf '\177ELF' >"$site/short.so"
cp "$site/ops.abi3.so" "$site/ops.txt"
truncate -s 500M "$site/large.so"
dd if="$site/ops.abi3.so" of="$site/large.so" conv=notrunc 2>/dev/null
for name in fifo.so folder.so device.so loop.so text.so short.so ops.txt absent.so 'x/../../../../../dev/zero'; do
    no_image "$site/$name"
    look whole "$one" -- --no-record "$work/image.log"
    ! grep -qE ' here:|secret' "$work/out" || fail "$name was read: $(grep -E 'here:|secret' "$work/out")"
    within "$name" 1500
done
no_image "$site/link.so"
look whole "$one" -- --no-record "$work/image.log"
expect "a link to a library" '^  link\.so here: sm_90; GPU 12\.0: does-not-load$'
no_image "$site/large.so"
look whole "$one" -- --no-record "$work/image.log"
within "500 MB" 2500

# Without a driver nothing is loaded and nothing is created.
rm "$root/sys/module/nvidia/version"; rmdir "$root/sys/module/nvidia"
before=$(find /dev -maxdepth 1 | sort)
look whole "$gpus8" -- device --check
want_status 3 "no driver"
expect "no driver" 'no NVIDIA GPU on this machine'
[ "$(find /dev -maxdepth 1 | sort)" = "$before" ] || fail "/dev has changed"
mkdir -p "$root/sys/bus/pci/devices/0000:01:00.0"
echo 0x10de >"$root/sys/bus/pci/devices/0000:01:00.0/vendor"
echo 0x030200 >"$root/sys/bus/pci/devices/0000:01:00.0/class"
look whole "$gpus8" -- device
expect "GPU without a module" 'kernel module is not loaded'
finish
