#!/bin/bash
# JSON as promised: members and their types of a report, of every command's rows, one object a line for jsonl, valid whatever the log holds.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$work/state
log=$cases/memcg-hicache

run --device cc=9.0,name=H100,memory=80GB,count=2 --format json --kernel-log "$log/dmesg.txt" "$log/server.log"
want_status 1 "a report"
cp out report.json
jq -e '
    def text: type == "string"; def text_or_null: type == "string" or type == "null"; def count: type == "number" and . == floor;
    def texts: type == "array" and all(.[]; text);
    (.schema == 1) and (.tool.version | text) and (.tool.rules | .packs, .active, .rejected | count)
    and (.status | IN("failure", "unrecognised", "inconclusive", "healthy"))
    and (.inputs | length == 2) and all(.inputs[]; (.source, .kind | text) and (.lines, .bytes, .long_lines | count) and (.truncated | type == "boolean")
        and (.first_time, .last_time, .time_basis, .host, .error | text_or_null))
    and (.launches | (.count, .judged | count) and all(.list[]; (.source, .outcome | text) and (.first_line, .last_line | count)))
    and (.attempt | (.engine, .model | text) and (.engine_version, .quantization, .phase, .command, .model_family | text_or_null)
        and (.tensor_parallel | count) and (.exit == null or (.exit | has("code") or has("signal"))) and (.choices | type == "object" and all(.[]; text)))
    and (.devices | length == 2) and all(.devices[]; (.index | count) and .compute_capability == "9.0" and .origin == "stated" and .memory_total == 80000000000
        and .memory_free == null and has("name") and has("driver"))
    and (.causes | length > 0) and all(.causes[]; (.rank | count) and (.rule, .class, .subclass, .title, .summary | text) and (.confidence | IN("certain", "likely", "possible"))
        and (.device_check | IN("confirms", "contradicts", "not-checked")) and (.explains | texts)
        and all(.evidence[]; (.source, .text, .role | text) and (.line, .end_line, .count | count)))
    and all(.ruled_out[]; .class, .reason | text) and (.not_checked, .joins | texts)
    and all(.proposals[]; (.rank | count) and (.action, .kind, .evidence, .scope | text) and (.action | length <= 100) and (.flags, .packages, .cautions | texts)
        and (.environment | type == "object") and (.axis, .value, .command, .reason, .cost, .undo | text_or_null)
        and (.kind | IN("backend", "setting", "environment", "install", "upgrade", "cleanup", "command", "report"))
        and (.evidence | IN("verified-here", "verified", "documented", "expected")) and (.scope | IN("launch", "container", "host", "fleet")))
    and all(.avoid[]; .action | text) and (.fingerprint | test("^[0-9a-f]{32}$")) and (.recorded.id == 1)
' report.json >/dev/null || fail "a report is not as promised: $(cat report.json)"
run --device 9.0 --format jsonl --no-record "$log/server.log"
[ "$(wc -l <out)" = 1 ] || fail "jsonl of a report has $(wc -l <out) lines"
jq -e '.recorded == null' out >/dev/null || fail "recorded is not null"

# ---- no verdict, no cause
run --no-device --no-record --format json "$cases/story-f/server.log"
jq -e '.status == "healthy" and .causes == [] and .devices == []' out >/dev/null || fail "healthy as JSON"
run --no-device --no-record --format json "$cases/story-g/server.log"
jq -e '.status == "inconclusive" and (.causes[0] | .rule == null and .class == null and .confidence == "possible")' out >/dev/null || fail "inconclusive as JSON"

# ---- rows of the other commands
run --device 12.0 "$cases/story-f/server.log"
rows() { # KEYS KIND ARGUMENTS...
    local keys=$1 kind=$2
    shift 2
    run --format json "$@"
    jq -e --arg kind "$kind" --arg keys "$keys" '.schema == 1 and .kind == $kind and (.rows | length > 0) and all(.rows[]; keys_unsorted == ($keys | split(" ")))' out >/dev/null ||
        fail "$*: $(head -c 400 out)"
    jq -c '.rows[]' out >lines
    run --format jsonl "$@"
    want_same lines
}
rows "id time engine engine_version model devices class subclass confidence outcome diagnoses" history history
rows "engine engine_version model devices choices outcome age_days attempts" matrix matrix
rows "engine axis choice capabilities build needs known_bad checked" catalog catalog sglang
rows "id pack title class role status checked file" rules rules list
rows "verdict class rule reason ignored" preflight preflight --device 12.0 -- python -m sglang.launch_server --moe-runner-backend flashinfer_trtllm --port 1
rows "verdict class rule reason ignored" preflight preflight --device 12.0 -- true
echo "a quite ordinary sentence that a server could have said" >answer
rows "verdict reason" smoke smoke answer
rows "id text" explain explain oom-host
rows "id text" explain explain
rows "id outcome" outcome outcome works 2
rows "launch source first_line last_line outcome summary" launches --launch list --no-device "$cases/story-a/server.log"
run --device 12.0 "$cases/story-a/server.log"
rows "what then now" diff diff
run next --format json
jq -e '.rows | length == 1 and (.[0] | has("action") and has("flags") and has("evidence"))' out >/dev/null || fail "next: $(cat out)"
cat >bad.yaml <<'EOF'
pack: bad
rules: 3
EOF
rows "file line column message" rules rules lint bad.yaml

# ---- valid whatever comes
head -c 100000 /dev/urandom >junk
printf 'RuntimeError: \xff\xfe\x00\xc3\x28 "quoted" \\ back' >>junk
run --no-device --no-record --format json junk
jq -e .schema out >/dev/null || fail "JSON of junk"

# ---- a history whose report is no JSON
run history
python3 -c "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE diagnoses SET report = '{'\"); c.commit()" "$XDG_STATE_HOME/diagnose/history.db" 2>/dev/null ||
    sqlite3 "$XDG_STATE_HOME/diagnose/history.db" "UPDATE diagnoses SET report = '{'"
for command in --last next explain; do
    run $command
    want_status 2 "$command of a damaged report"
    want_silent
done
run history
want_status 0 "history beside damaged reports"
finish
