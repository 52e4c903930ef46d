#!/bin/bash
# History: recorded, printed again, corrected, compared, exported; and no history that stops a diagnosis.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$work/state
db=$work/state/diagnose/history.db
A="--device cc=12.0,count=8"

# ---- nothing there yet
run history
want_status 0 "no history"
want_silent
want_err "nothing is recorded yet; diagnose a log first"
run history --format json
[ "$(jq -c . out)" = '{"schema":1,"kind":"history","rows":[]}' ] || fail "empty history as JSON: $(cat out)"
for command in --last "--show 1" next diff explain; do
    # shellcheck disable=SC2086
    run $command
    want_status 2 "$command without history"
    want_silent
    want_err "nothing is recorded yet in"
done
run outcome works
want_status 2 "outcome without history"

# ---- --last after a pipe, and --show, print the same bytes with the same status
# shellcheck disable=SC2086
run_in $A < <(cat "$cases/story-a/server.log")
want_status 1 "recording"
want_out "#1 | "
cp out first
run --last
want_status 1 --last
want_same first
run "$cases/story-f/server.log" --device 12.0
want_status 0 "a second attempt"
want_out "#2 | "
run --show 1
want_status 1 "--show 1"
want_same first
run --show '#2'
want_status 0 "--show 2"
run --show 99
want_status 2 "--show 99"
want_silent
for form in json markdown html; do
    run --show 1 --format $form
    want_status 1 "--show as $form"
    cp out "first.$form"
    run --show 1 --format $form
    want_same "first.$form"
done
[ "$(jq .recorded.id first.json)" = 1 ] || fail "the id is not in the JSON"

# ---- the same log is the same attempt
# shellcheck disable=SC2086
run $A --kernel-log "$cases/story-a/dmesg.txt" "$cases/story-a/server.log"
want_out "#1 | "
run history --format jsonl
[ "$(jq -s -c '[.[] | [.id, .diagnoses, .outcome, .class]]' out)" = '[[1,2,"fails","arch-mismatch"],[2,1,"started",null]]' ] ||
    fail "history: $(cat out)"

# ---- filters
count() { # ARGUMENTS...
    run history --format jsonl "$@"
    wc -l <out
}
[ "$(count --class arch-mismatch)" = 1 ] || fail "--class"
[ "$(count --class arch-mismatch/sm-guard)" = 1 ] || fail "--class with a subclass"
[ "$(count --class oom-host)" = 0 ] || fail "--class of another"
[ "$(count --engine sglang)" = 2 ] || fail "--engine"
[ "$(count --model qwen3.5)" = 2 ] || fail "--model"
[ "$(count --outcome started)" = 1 ] || fail "--outcome"
[ "$(count --since 2026-06-15)" = 1 ] || fail "--since a date"
[ "$(count --since 1d)" = 0 ] || [ "$(date +%s)" -lt 1781800000 ] || fail "--since an age"
[ "$(count --text 'flashinfer_trtllm')" -ge 1 ] || fail "--text"
[ "$(count --limit 1)" = 1 ] || fail "--limit"

# ---- an outcome closes the loop: what fails is not proposed, what works comes first
run next --format json
first_value=$(jq -r '.rows[0].value' out)
want_status 0 next
[ "$first_value" = flashinfer_cutlass ] || fail "the first proposal is $first_value"
run outcome works 2 --note 'answers well, key hf_''AbCdEfGhIjKlMnOpQrStUvWx'
want_status 0 outcome
run --no-record --device 12.0 --format json "$cases/story-a/server.log"
[ "$(jq -r '.proposals[0] | .evidence + " " + .value' out)" = "verified-here flashinfer_cutlass" ] || fail "what worked here does not come first"
run outcome garbage 2
run --no-record --device 12.0 --format json "$cases/story-a/server.log"
jq -e '.proposals | any(.value == "flashinfer_cutlass")' out >/dev/null && fail "a choice that gave garbage is proposed"
run next 1 --format json
[ "$(jq -r '.rows[0].value' out)" != flashinfer_cutlass ] || fail "next proposes what gave garbage"
run next 1
grep -q '^Take --' out || fail "next begins with what to do: $(head -1 out)"
grep -q '^  why: ' out || fail "next says why"
run next 2
want_status 0 "next of an attempt that gave garbage"
run outcome fails 99
want_status 2 "an outcome of nothing"

# ---- diff and matrix
run outcome works 2
run diff 1
want_status 1 "diff of two launches"
want_out "moe-runner-backend"
run diff 2
want_status 2 "diff without another that worked"
run matrix --verbose
want_status 0 matrix
want_out "moe-runner-backend=flashinfer_trtllm"
want_out "works"
run matrix --device 9.0
want_silent "matrix of another device"

# ---- the command: only when it was stated
run next --print-command
want_status 3 "no command known"
want_silent
cmd="python3 -m sglang.launch_server --model-path '/srv/my models/x' --moe-runner-backend flashinfer_trtllm"
run --device 12.0 --db "$work/other.db" --command "$cmd" "$cases/story-a/server.log"
run next --db "$work/other.db" --print-command
want_status 0 "a command"
[ "$(cat out)" = "python3 -m sglang.launch_server --model-path '/srv/my models/x' --moe-runner-backend flashinfer_cutlass" ] ||
    fail "the command: $(cat out)"

# ---- out and in again
run history --export export.jsonl
want_status 0 export
[ "$(wc -l <export.jsonl)" = 2 ] || fail "export has $(wc -l <export.jsonl) lines"
run history --db "$work/copy.db" --import export.jsonl
want_status 0 import
run history --format json
cp out original.json
run history --db "$work/copy.db" --format json
jq -S '.rows |= sort_by(.id) | del(.rows[].id, .rows[].diagnoses)' original.json >a.json
jq -S '.rows |= (reverse | sort_by(.id)) | del(.rows[].id, .rows[].diagnoses)' out >b.json
[ "$(jq '.rows | map(.time) | sort' a.json)" = "$(jq '.rows | map(.time) | sort' b.json)" ] || fail "import lost something"
echo '{"no":"attempt"}' >bad.jsonl
run history --import bad.jsonl
want_status 2 "an import of something else"
want_err "bad.jsonl:1"

# ---- all of an import or nothing
{ sed -n 1p export.jsonl && echo '{"key":"cut off' && sed -n 2p export.jsonl; } >cut.jsonl
run history --db "$work/none.db" --import cut.jsonl
want_status 2 "an import with a damaged line"
want_err "cut.jsonl:2"
want_err "nothing was taken"
[ -z "$(count --db "$work/none.db" | grep -v '^0$')" ] || fail "lines before the damaged one were taken"
{ head -1 export.jsonl | jq -c '.key = "of-old" | .recorded = "2001-01-01T00:00:00Z"' && cat export.jsonl; } >old.jsonl
run history --db "$work/none.db" --import old.jsonl
want_status 0 "an import of what is too old to keep"
want_err "attempts that went by the limits of the history (age, number, size): 1"

# ---- secrets never get in
printf '%s\n' "[2026-06-14 03:04:12] server_args=ServerArgs(model_path='/m/x', api_key='hunter2secret', port=1)" \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. Authorization: Bearer abcdef0123456789" >secret.log
for form in text json markdown html; do
    run --no-device --verbose --format $form secret.log
    grep -q 'hunter2secret\|abcdef0123456789' out && fail "a secret in $form"
done
run history --class oom-device --since 1d
want_silent
want_err "no attempt in the history matches"
run history
grep -q '^id  time  *outcome  class  *subclass ' out || fail "what counts is cut off at 80 columns: $(head -1 out)"
grep -q '/models\|/srv' out && fail "history shows people whole paths of models"
run explain
sed -n '/^Evidence/,/^[A-Z#]/{/^[A-Z#]/d;p}' out | grep -qv '^  ' && fail "what goes on of a line of evidence is not indented"
[ "$(awk 'length > 80 && / [^ ]* [^ ]* /' out | wc -l)" = 0 ] || fail "explain is wider than 80 columns"
grep -q 'hunter2secret\|abcdef0123456789' out && fail "a secret in explain"
filter='.key = "given" | .note = "login: Bearer abcdef0123456789" | .choices = {"api-key": "hunter2secret", "max-total-tokens": "128"}'
filter=$filter' | .report.deep = [{"hf_''AbCdEfGhIjKlMnOpQrStUvWx": "https://me:hunter2secret@example.org/x"}]'
head -1 export.jsonl | jq -c "$filter" >secrets.jsonl
grep -q hunter2secret secrets.jsonl || fail "no secret to import"
run history --import secrets.jsonl
want_status 0 "an import with secrets"
run history --export - --limit 1
jq -e '.choices | .["api-key"][:8] == "<secret:" and .["max-total-tokens"] == "128"' out >/dev/null || fail "choices with a secret: $(jq -c .choices out)"
for file in "$db"*; do
    grep -aq 'hunter2secret\|abcdef0123456789\|AbCdEfGhIjKlMnOpQrStUvWx' "$file" && fail "a secret in $file"
done

# ---- modes
[ "$(stat -c %a "$db")" = 600 ] || fail "the history has mode $(stat -c %a "$db")"
[ "$(stat -c %a "$(dirname "$db")")" = 700 ] || fail "its folder has mode $(stat -c %a "$(dirname "$db")")"

# ---- --no-record
run --no-record --device 12.0 "$cases/story-g/server.log"
want_out "not recorded"
[ "$(count)" = 4 ] || fail "--no-record recorded"

# ---- a history that cannot be used: one warning, the report as ever
log=$cases/story-a/server.log
spoilt() { # WHAT TEXT: with $bad as history
    run --no-device --db "$bad" "$log"
    want_status 1 "history $1"
    want_out "arch-mismatch/sm-guard"
    want_out "not recorded"
    want_err "$2"
    [ "$(grep -c 'not recorded' "$work/err")" = 1 ] || fail "history $1: more than one warning: $(cat "$work/err")"
}
bad=$work/text.db
echo "this is a text and no database at all, and it is long enough to be looked at as one, which takes a hundred bytes" >"$bad"
spoilt "that is a text" "no history of diagnose"
bad=$work/newer.db
cp "$db" "$bad" && rm -f "$bad-wal"
sqlite3 "$bad" 'PRAGMA user_version = 99' 2>/dev/null || python3 -c "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('PRAGMA user_version=99'); c.commit()" "$bad"
spoilt "of a newer version" "newer"
bad=$work/damaged.db
head -c 3000 "$db" >"$bad"
spoilt "that is damaged" "damaged"
bad=$work/a-folder
mkdir "$bad"
spoilt "that is a folder" "history"
bad=/proc/no-such-place/history.db
spoilt "in a place that cannot be" "cannot make folder"
unset XDG_STATE_HOME
HOME='' run --no-device "$log"
want_status 1 "no HOME"
want_err "HOME"
finish
