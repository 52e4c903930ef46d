#!/bin/bash
# A history of 40 attempts: what was tried, what changed since it worked; and what an environment's report adds to a log.
# To look at what changed: SHOW=1 tests/cli/matrix.sh
. "$(dirname "$0")/lib.sh"
golden=$SOURCE_DIR/tests/cli/golden
db=$work/history.db

# Ages are printed, and old attempts are pruned: one attempt every three days, the last an hour ago.
jq -c '.time = (now - (40 - .id) * 259200 - 3600 | floor | todate) | .recorded = .time' "$golden/history.jsonl" >history.jsonl
run history --db "$db" --import history.jsonl
want_status 0 import
run history --db "$db" --limit 0 --format jsonl
[ "$(wc -l <out)" = 40 ] || fail "$(wc -l <out) attempts of 40"

golden_run() { # EXPECTED STATUS ARGUMENTS...
    local expected=$1 want=$2
    shift 2
    run "$@" --db "$db"
    want_status "$want" "$expected"
    [ -z "${SHOW:-}" ] || cp out "$golden/$expected"
    want_same "$golden/$expected"
}
golden_run matrix.txt 0 matrix
golden_run matrix.json 0 matrix --format json
golden_run matrix.sglang.txt 0 matrix --engine sglang --device 12.0
COLUMNS=140 golden_run matrix.wide.txt 0 matrix --engine vllm --device 9.0
TZ=Asia/Kolkata golden_run matrix.txt 0 matrix

# ---- every combination once, with its latest outcome
jq -r '.rows[] | [.engine, .engine_version, .model, .devices, (.choices | tostring)] | join(" ")' "$golden/matrix.json" | sort | uniq -d >twice
[ ! -s twice ] || fail "a combination stands twice: $(cat twice)"
[ "$(jq '[.rows[].attempts] | add' "$golden/matrix.json")" = 40 ] || fail "attempts are lost in the matrix"

# ---- a failure after a good attempt: version, devices, driver and choices
golden_run diff.txt 1 diff 39
want_err "attempt 37 worked; this is attempt 39"
golden_run diff.json 1 diff 39 --format json
[ "$(jq -r '[.rows[].what] | join(",")' out)" = "engine version,devices,driver,moe-runner-backend,kv-cache-dtype" ] ||
    fail "diff names $(jq -r '[.rows[].what] | join(",")' out)"

# ---- versions, driver and GPU out of an environment's report
mkdir rules
cat >rules/toy.yaml <<'EOF'
pack: toy
rules:
- id: boom
  title: The toy went off
  role: cause
  class: kernel-fault/illegal-access
  match: {lit: 'the toy went off'}
  summary: 'torch {fact.torch|-} flashinfer {fact.flashinfer|-} driver {fact.driver|-} cuda {fact.cuda|-}'
  why: It is a toy.
  actions: [{do: 'Mend it', kind: setting}]
  checked: 2026-11-29
  refs: [toy]
  status: stable
  examples: [{text: 'the toy went off'}]
  near: ['the toy is fine']
EOF
cat >server.log <<'EOF'
INFO 12-02 11:41:02 [model.py:547] Resolved architecture: GptOssForCausalLM
ERROR 12-02 11:42:02 [core.py:843] RuntimeError: the toy went off
EOF
cat >pip-freeze.txt <<'EOF'
flashinfer-cubin==0.6.7
flashinfer-python==0.6.7
numpy==2.2.6
nvidia-nccl-cu12==2.27.3
sglang==0.5.6
torch==2.9.1
torchvision==0.24.1
transformers==4.57.0
triton==3.5.1
vllm==0.17.1
xgrammar==0.1.24
EOF
cat >collect-env.txt <<'EOF'
Collecting environment information...
PyTorch version              : 2.9.1+cu128
CUDA used to build PyTorch   : 12.8
CUDA runtime version         : 12.8.93
GPU models and configuration :
GPU 0: NVIDIA RTX PRO 6000 Blackwell Server Edition
GPU 1: NVIDIA RTX PRO 6000 Blackwell Server Edition
Nvidia driver version        : 580.95.05
[pip3] flashinfer-python==0.6.7
vLLM Version                 : 0.17.1
EOF
with_environment() { # FILE SUMMARY VERSION DEVICE
    run --no-record --no-device --rules rules --format json server.log "$1"
    want_status 1 "a log with $1"
    [ "$(jq -r '.causes[0].summary' out)" = "$2" ] || fail "$1: $(jq -r '.causes[0].summary' out)"
    [ "$(jq -r '.attempt | .engine + " " + .engine_version' out)" = "$3" ] || fail "$1: $(jq -c .attempt out)"
    [ "$(jq -r '.devices[0] | "\(.compute_capability) \(.driver)"' out)" = "$4" ] || fail "$1: $(jq -c .devices out)"
    [ "$(jq -r '.inputs[1].kind' out)" = environment ] || fail "$1 is taken for $(jq -r '.inputs[1].kind' out)"
}
with_environment pip-freeze.txt "torch 2.9.1 flashinfer 0.6.7 driver - cuda -" "vllm 0.17.1" "null null"
with_environment collect-env.txt "torch 2.9.1+cu128 flashinfer 0.6.7 driver 580.95.05 cuda 12.8.93" "vllm 0.17.1" "12.0 580.95.05"
finish
