#!/bin/bash
# The launches that this began with, as a person meets them; and every report of a labelled log fits a screen.
. "$(dirname "$0")/lib.sh"

story() { # NAME STATUS VERDICT...
    local name=$1 want=$2
    shift 2
    local kernel=()
    cd "$cases/$name"
    [ -f dmesg.txt ] && kernel=(--kernel-log dmesg.txt)
    run --no-record --device cc=12.0,count=8 "${kernel[@]}" server.log
    cd "$work"
    want_status "$want" "$name"
    # shellcheck disable=SC2053  # a pattern
    [[ $(head -n 1 out) == $* ]] || fail "$name: the verdict is '$(head -n 1 out)', not '$*'"
}
story story-a 1 'arch-mismatch/sm-guard (certain): *'
want_out "  1 Take --moe-runner-backend flashinfer_cutlass"
want_out "server.log:128"
want_out "Not oom-"
story story-b 1 'oom-host/kernel-oom-killer (certain): *'
want_out "Out of memory: Killed process 43621"
story story-c 1 'arch-mismatch/sm-guard (certain): *'
want_out "Not oom-host: dmesg.txt:125 is of another process or time"
story story-d 1 'oom-device/weight-shuffle (*'
story story-e1 1 'jit-failure/toolchain-missing (*'
want_out CUDA_HOME
story story-e2 1 'jit-failure/compile-error (*'
story story-e3 1 'arch-mismatch/toolchain-unknown-arch (*'
story story-f 0 'healthy: *'
story story-g 3 'inconclusive: *'
want_out "dmesg -T"

# Without the kernel log "Killed" alone is never an OOM.
run --no-record --device 12.0 "$cases/story-b/server.log"
want_status 3 "Killed, and no kernel log"
grep -q 'oom-host/' out && fail "Killed alone is called an OOM"
# A try that is cut off below one that failed points at it.
(cat "$cases/b200-deepgemm-nvcc-sm100f/log.txt" && head -n 40 "$cases/b200-deepgemm-nvcc-sm100f/log.txt") >again.log
run --no-record --device 10.0 again.log
want_status 3 "a second try that is cut off"
want_out "See launch 1 of this log, which failed"
run --no-record --device 10.0 --launch 1 again.log
want_status 1 "the first try"
# The kernel log first, or on standard input, is all the same.
run_in --no-record --device 12.0 --kernel-log - "$cases/story-b/server.log" <"$cases/story-b/dmesg.txt"
want_status 1 "the kernel log on standard input"
run --no-record --device 12.0 "$cases/story-b/server.log" "$cases/story-b/dmesg.txt"
want_status 1 "the kernel log as one more file"
want_out "oom-host/kernel-oom-killer (certain)"

# Local times in both logs, wherever that is.
for zone in Asia/Kolkata America/New_York Pacific/Chatham; do
    TZ=$zone run --no-record --device 12.0 --format json --kernel-log "$cases/story-b/dmesg.txt" "$cases/story-b/server.log"
    [ "$(jq -r '.causes[0].subclass' out)" = kernel-oom-killer ] || fail "story-b in $zone: $(jq -r '.causes[0].summary' out)"
done
TZ=Asia/Kolkata run --no-record --device 12.0 --format json "$cases/story-b/server.log"
[ "$(jq -r '.inputs[0].first_time' out)" = 2026-06-13T21:34:10Z ] || fail "a local time: $(jq -r '.inputs[0].first_time' out)"

for c in "$cases"/*/; do
    name=$(basename "$c")
    files=()
    for f in "$c"*; do
        case $f in
            */case.json) ;;
            */dmesg.txt) files+=(--kernel-log "$f") ;;
            *) files+=("$f") ;;
        esac
    done
    (cd "$c" && "$DIAGNOSE" --no-record --no-device "${files[@]##*/}" >"$work/out" 2>"$work/err" </dev/null) || true
    [ "$(wc -l <out)" -le 24 ] || fail "$name: $(wc -l <out) lines"
    wide=$(jq -Rr 'select(length > 80)' <out)
    [ -z "$wide" ] || fail "$name: wider than a screen: $wide"
done
finish
