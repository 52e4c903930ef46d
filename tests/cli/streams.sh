#!/bin/bash
# Pipes, terminals and signals: --tee, a reader that goes away, Ctrl-C, silence on standard input.
. "$(dirname "$0")/lib.sh"
log=$cases/story-a/server.log

# ---- --tee: the log passes through as it arrives, the report goes to stderr
status=0
"$DIAGNOSE" --tee --no-device --no-record <"$log" >out 2>err || status=$?
want_status 1 --tee
cmp "$log" out || fail "--tee changed the log"
want_err "arch-mismatch/sm-guard"
{
    echo one
    sleep 3
    cat "$log"
} | "$DIAGNOSE" --tee --no-device --no-record >out 2>err &
sleep 1
[ "$(cat out)" = one ] || fail "--tee held a line back: '$(cat out)'"
wait $! || true
cmp <(echo one && cat "$log") out || fail "--tee of a slow pipe"
status=0
# shellcheck disable=SC2002
cat "$log" | "$DIAGNOSE" --tee --no-device --no-record --format json --report r.json >out 2>err || status=$?
want_status 1 "--tee with --report"
[ "$(jq -r '.causes[0].class' r.json)" = arch-mismatch ] || fail "--tee --report wrote no JSON"

# ---- a reader that goes away: recorded first, then SIGPIPE, without a word
set +e
{ "$DIAGNOSE" --no-device --db pipe.db "$log" 2>err; echo $? >rc; } | true
set -e
[ "$(cat rc)" = 141 ] || [ "$(cat rc)" = 1 ] || fail "broken pipe: status $(cat rc)"
set +e
{ sleep 1; "$DIAGNOSE" --no-device --db pipe.db "$log" 2>err; echo $? >rc; } | :
set -e
[ "$(cat rc)" = 141 ] || fail "broken pipe: status $(cat rc), not 141"
[ ! -s err ] || fail "broken pipe: $(cat err)"
run history --db pipe.db --format jsonl
[ "$(wc -l <out)" = 1 ] || fail "broken pipe: nothing was recorded"

# --tee into a closed pipe goes on reading, and judges
set +e
{ sleep 0.3; cat "$log"; } | { "$DIAGNOSE" --tee --no-device --no-record 2>err; echo $? >rc; } | :
set -e
[ "$(cat rc)" = 1 ] || fail "--tee into a closed pipe: status $(cat rc)"
want_err "arch-mismatch/sm-guard"

# ---- Ctrl-C while a pipe is read: to its end, then the report; the second one ends us
mkfifo fifo
sleep 30 >fifo &
writer=$!
"$DIAGNOSE" --no-device --no-record - <fifo >out 2>err &
reader=$!
exec 3>fifo
cat "$log" >&3
sleep 1
kill -INT $reader
sleep 1
kill -0 $reader 2>/dev/null || fail "the first Ctrl-C ended it"
exec 3>&-
kill $writer
status=0
wait $reader || status=$?
want_status 1 "Ctrl-C, then the end"
want_out "arch-mismatch/sm-guard"
sleep 30 >fifo &
writer=$!
(trap - INT; exec "$DIAGNOSE" --no-device --no-record - <fifo >out 2>err) &
reader=$!
sleep 1
kill -INT $reader
sleep 0.3
kill -INT $reader
status=0
wait $reader || status=$?
kill $writer
want_status 130 "two Ctrl-C"
want_silent "two Ctrl-C"

# ---- workers that outlive the launcher keep the pipe open: the report comes all the same
{
    cat "$log"
    sleep 40
} | timeout 30 "$DIAGNOSE" --no-device --no-record >out 2>err || true
want_out "arch-mismatch/sm-guard"
want_err "held open by"
want_err "sleep ("

# ---- and where nothing tells of the end, Ctrl-C brings it, though the pipe stays open
(trap - INT; exec "$DIAGNOSE" --no-device --no-record - < <(echo "nothing to see"; exec sleep 40) >out 2>err) &
reader=$!
sleep 1
kill -INT $reader
status=0
wait $reader || status=$?
want_status 3 "Ctrl-C, and no end"
want_err "its output is still held open by sleep ("

# ---- the environment that a cron job has: no terminal, a silent standard input that is not read when a file is named
sleep 30 >fifo &
writer=$!
status=0
timeout 10 "$DIAGNOSE" --no-device --no-record "$log" <fifo >out 2>err || status=$?
kill $writer
want_status 1 "a file beside a silent standard input"
status=0
timeout 10 "$DIAGNOSE" --no-device --no-record "$log" <&- >out 2>err || status=$?
want_status 1 "closed standard input"

# ---- colours only where wanted
run --no-device --no-record "$log"
grep -q "$(printf '\033')" out && fail "colours in a pipe"
run --no-device --no-record --color always "$log"
grep -q "$(printf '\033')" out || fail "no colours with --color always"
sed 's/\x1b\[[0-9;]*m//g' out >plain
run --no-device --no-record "$log"
want_same plain

# ---- what came by a pipe is called stdin in every sentence
run_in --no-device --no-record --kernel-log - "$cases/memcg-hicache/server.log" <"$cases/memcg-hicache/dmesg.txt"
want_out "stdin:80 joined"
grep -q '^-:' out && fail "a pipe is called by a dash"

# ---- the rule to start from can be pasted: its example is no prompt
echo "2026-03-12 08:06:56 RuntimeError: the frobnicator of this model is out of joint" >odd.log
run --no-device --no-record --format markdown odd.log
want_out "examples: [{text: 'RuntimeError: the frobnicator"
finish
