#!/bin/bash
# Every exit status, and what is on standard output with each.
. "$(dirname "$0")/lib.sh"
S=$cases/story-a/server.log

run --no-device "$cases/story-f/server.log"
want_status 0 "a healthy log"
want_out "healthy: "
run --no-device "$S"
want_status 1 "a failure with its cause"
want_out "arch-mismatch/sm-guard ("
run --no-device "$cases/story-g/server.log"
want_status 3 "a log that is cut"
want_out "inconclusive: "

# ---- kernel logs
cp "$cases/story-a/dmesg.txt" clean.txt
run --no-device --kernel-log clean.txt
want_status 0 "a clean kernel log alone"
run --no-device --kernel-log clean.txt "$cases/story-g/server.log"
want_status 3 "a clean kernel log beside an inconclusive server log"

# ---- nothing that it knows
head -c 20000 /dev/urandom | base64 >noise.txt
run --no-device noise.txt
want_status 3 noise
head -c 65536 /dev/urandom >noise.bin
run --no-device noise.bin
want_status 3 "random bytes"
seq 1 5000 >numbers.txt
run --no-device numbers.txt
want_status 3 "a text of something else"

# ---- 2: usage and input; nothing on standard output in any format
: >empty
printf ' \n\t\n\n' >blank
mkdir -p folder
for form in text json jsonl markdown html; do
    for input in absent empty blank; do
        run --format $form --no-device $input
        want_status 2 "$input as $form"
        want_silent "$input as $form"
    done
done
run absent
want_err "absent"
want_err "No such file or directory"
run --no-device
want_status 2 "empty standard input"
want_silent
run "$(printf 'bad\033[2Jname')"
want_status 2 "an absent file with an escape in its name"
grep -q "$(printf '\033')" "$work/err" && fail "an escape reached the terminal"

# ---- an input that cannot be read beside one that can: never 0
run --no-device --kernel-log clean.txt absent.log
want_status 3 "an absent server log beside a clean kernel log"
want_out "inconclusive"
want_out "absent.log"
run --no-device absent.log "$S"
want_status 1 "an absent log beside one with a cause"
run --no-device folder "$S"
want_status 1 "a folder beside a log"
want_err "folder"
run --no-device folder
want_status 2 "a folder alone"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp "$cases/story-f/server.log" secret.log
    chmod 600 secret.log
    chmod 755 "$work"
    status=0
    HOME=/nonexistent setpriv --reuid 65534 --clear-groups "$DIAGNOSE" --no-device secret.log >out 2>err || status=$?
    want_status 2 "a file that may not be read"
    want_silent "a file that may not be read"
    want_err "Permission denied"
fi

# ---- quiet
for want in "0 story-f" "1 story-a" "3 story-g"; do
    run --quiet --no-device "$cases/${want#* }/server.log"
    want_status "${want% *}" "quiet"
    want_silent "quiet"
done

# ---- 4: a result that cannot be written
for command in "--no-device $S" "history" "--help" "catalog"; do
    status=0
    # shellcheck disable=SC2086
    "$DIAGNOSE" $command >/dev/full 2>"$work/err" </dev/null || status=$?
    want_status 4 "$command to a full device"
    want_err "No space left on device"
done
run --no-device --report /dev/full "$S"
want_status 4 "--report to a full device"
run --no-device --report "$work/no/such/folder/r" "$S"
want_status 4 "--report to nowhere"

# ---- other commands
run explain oom-host
want_status 0 "explain a class"
want_out "oom-host: "
run explain oom-host/cgroup-oom
want_status 0 "explain a subclass"
run rules list
want_status 0 "rules list"
[ "$(wc -l <"$work/out")" -gt 100 ] || fail "rules list is short"
run rules export --patterns
want_status 0 "rules export"
run catalog sglang moe-runner-backend --device 12.0
want_status 0 catalog
want_out flashinfer_cutlass
grep -q 'flashinfer_trtllm ' "$work/out" && fail "the catalog says that flashinfer_trtllm runs on 12.0"
echo '{"choices":[{"message":{"content":"Paris is the capital of France, and it lies on the Seine."}}]}' >good.json
echo '{"choices":[{"message":{"content":"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"}}]}' >bad.json
run smoke good.json
want_status 0 "a plausible answer"
run smoke bad.json
want_status 1 "garbage"
run_in smoke - <bad.json
want_status 1 "garbage from standard input"
run smoke empty
want_status 2 "no answer"
want_silent
run preflight --device 12.0 -- python -m sglang.launch_server --model-path m/X-NVFP4 --quantization modelopt_fp4 --moe-runner-backend flashinfer_trtllm
want_status 1 "a launch that will fail"
want_out will-fail
run preflight --device 10.0 -- python -m sglang.launch_server --model-path m/X-NVFP4 --quantization modelopt_fp4 --moe-runner-backend flashinfer_cutlass
want_status 0 "a launch with nothing known against it"
want_out nothing-known

# ---- a pack with a fault on its seventh line
cat >bad.yaml <<'EOF'
pack: bad
rules:
- id: one
  title: A rule
  role: cause
  class: config/bad-argument
  mach: {lit: 'something that is said'}
  checked: 2026-11-29
  refs: [here]
  status: stable
  examples: [{text: 'something that is said'}]
  near: ['nothing']
EOF
run rules lint bad.yaml
want_status 1 "rules lint of a bad pack"
want_out "bad.yaml:7:"
want_out "    ^"
run --no-device --rules bad.yaml "$S"
want_status 1 "a bad pack does not stop a diagnosis"
want_out "rules active"
run --no-device --rules "$work/no-such.yaml" "$S"
want_status 2 "a pack that is not there"
mkdir none
run --no-device --rules-only none "$S"
want_status 3 "no rules at all"
want_out "unrecognised"
want_out "server.log:"
finish
