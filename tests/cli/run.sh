#!/bin/bash
# diagnose run: as if it were not there while the command runs, and a verdict when it has ended.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$work/state
logs=$XDG_STATE_HOME/diagnose/logs

# Run a command under the tool: what it printed is in out and err, the report behind err.
under() { # ARGUMENTS...
    run run --device cc=12.0,count=8 "$@"
}
field() { # JQ: of the report that was recorded last
    "$DIAGNOSE" --last --format json 2>/dev/null | jq -r "$1"
}
want_field() { # JQ VALUE WHAT
    local got
    got=$(field "$1")
    [ "$got" = "$2" ] || fail "$3: $1 is '$got', not '$2'"
}
seconds() { date +%s.%N; }
within() { # FROM SECONDS WHAT
    awk -v a="$1" -v b="$(seconds)" -v most="$2" 'BEGIN { exit !(b - a <= most) }' || fail "$3 took longer than $2 s"
}

# ---- the launches that this began with; the log that was kept is what the command printed
for story in "a arch-mismatch sm-guard" "c arch-mismatch sm-guard" "d oom-device weight-shuffle" "e1 jit-failure toolchain-missing" \
    "e2 jit-failure compile-error" "e3 arch-mismatch toolchain-unknown-arch"; do
    read -r name class subclass <<<"$story"
    log=$cases/story-$name/server.log
    under -- sh -c "cat '$log'; exit 1"
    want_status 1 "story $name"
    want_same "$log"
    cmp "$log" "$(find "$logs" -name 'run-*.log' -newer "$work/home" | sort | tail -n 1)" || fail "story $name: the log that was kept differs"
    want_field .causes[0].class "$class" "story $name"
    want_field .causes[0].subclass "$subclass" "story $name"
    want_field .attempt.exit.code 1 "story $name"
done
under -- sh -c "cat '$cases/story-b/server.log'; exit 1"
want_field .status inconclusive "story b, whose kernel log is another machine's"
under -- sh -c "cat '$cases/story-f/server.log'; exit 1"
want_field .status inconclusive "a server that served and ended with status 1"
want_err "ended with status 1"
under -- sh -c "cat '$cases/story-f/server.log'"
want_field .status healthy "a server that served and ended"
under -- sh -c "cat '$cases/story-g/server.log'; exit 3"
want_status 3 "story g"
want_field .status inconclusive "story g"
under -- false
want_status 1 "a command without a word"
want_field .status inconclusive "a command without a word"

# ---- how it ends: the status is the command's own
served=$cases/story-f/server.log loading=$cases/story-g/server.log
for want in 0 1 7 77 125 200; do
    under --no-record -- sh -c "exit $want"
    want_status "$want" "exit $want"
done
under -- no-such-command
want_status 127 "a command that is not there"
want_err "no-such-command"
under -- /etc/passwd
want_status 126 "a command that may not be run"
under
want_status 125 "no command at all"
under --pty sometimes -- true
want_status 125 "a wrong --pty"
under --ready '(' -- true
want_status 125 "a wrong --ready"
under --timeout-ready soon -- true
want_status 125 "a wrong --timeout-ready"
under --log "$work/no/such/folder/x" -- true
want_status 125 "a log that cannot be written"

under -- sh -c "cat '$loading'; kill -SEGV \$\$"
want_status 139 "a crash"
want_field .status unrecognised "a crash"
want_field .attempt.exit.signal 11 "a crash"
want_err "SIGSEGV"
"$DIAGNOSE" run --device 12.0 -- sh -c "cat '$loading'; echo \$\$ >pid; exec sleep 60" >out 2>err </dev/null &
tool=$!
until [ -s pid ]; do sleep 0.1; done
kill -KILL "$(cat pid)"
status=0
wait $tool || status=$?
want_status 137 "killed from outside"
want_field .status inconclusive "killed from outside"
grep -q 'oom-host/' err && fail "SIGKILL alone is called an OOM"

# A probe, or kubectl delete: before it was ready it was stopped, afterwards it ended well.
terminate() { # LOG: the tool is told to end while the command runs that printed LOG; trap as a server's
    rm -f pid
    "$DIAGNOSE" run --device 12.0 -- bash -c "trap 'echo INFO: Application shutdown complete.; kill %1; exit 0' TERM; cat '$1'; sleep 60 & echo \$\$ >pid; wait" \
        >out 2>err </dev/null &
    tool=$!
    until [ -s pid ]; do sleep 0.1; done
    kill -TERM $tool
    status=0
    wait $tool || status=$?
}
under -- sh -c "cat '$loading'; kill -TERM \$\$"
want_status 143 "SIGTERM while loading"
want_field '.causes[0] | .class + "/" + .subclass' stopped/sigterm "SIGTERM while loading"
under -- sh -c "cat '$loading'; exit 143"
want_field '.causes[0] | .class + "/" + .subclass' stopped/sigterm "a shell that passes SIGTERM on"
terminate "$served"
want_status 0 "SIGTERM after readiness"
want_field .status healthy "SIGTERM after readiness, and a clean end"

# ---- what passes through is untouched, whatever it is
head -c 3000000 /dev/urandom >binary
under --no-record -- sh -c 'cat binary; cat binary >&2'
cmp binary out || fail "standard output was changed"
head -c 3000000 err | cmp binary - || fail "standard error was changed"
under --no-record -- sh -c 'printf "no newline"'
printf 'no newline' | cmp - out || fail "a last line without its end was changed"
status=0
echo typed | "$DIAGNOSE" run --no-record --no-device -- cat >out 2>err || status=$?
[ "$(cat out)" = typed ] || fail "standard input does not reach the command"
{ "$DIAGNOSE" run --no-record --no-device -- sh -c 'echo one; sleep 2; echo two' 2>err | { read -r && seconds >first; cat >/dev/null; }; } &
sleep 1
[ -s first ] || fail "a line was held back"
wait
set +e
{ "$DIAGNOSE" run --no-device --no-record -- sh -c "cat '$cases/story-a/server.log'; exit 9" 2>err; echo $? >rc; } | :
set -e
[ "$(cat rc)" = 9 ] || fail "a reader that went away: status $(cat rc)"
want_err "arch-mismatch/sm-guard"

# ---- workers that outlive it: its end is seen, they are named, and ended only where that is asked for
from=$(seconds)
under --no-record -- sh -c "cat '$cases/story-a/server.log'; sleep 300 & exit 1"
within "$from" 13 "a leftover that is silent"
want_err "arch-mismatch/sm-guard"
leftover=$(sed -n 's/.*left behind: \([0-9]*\) sleep.*/\1/p' err)
kill "$leftover" || fail "the leftover is not named, or is gone: $(head -n 3 err)"
from=$(seconds)
under --no-record -- bash -c "(trap '' PIPE; while sleep 0.2; do echo still here; done) & echo \$! >worker; exit 1"
within "$from" 13 "a leftover that goes on printing"
kill "$(cat worker)" 2>/dev/null || true
under --no-record --cleanup -- sh -c 'setsid sh -c "trap \"\" TERM; while :; do sleep 1; done" & sleep 300 & echo $! >worker; exit 1'
kill -0 "$(cat worker)" 2>/dev/null && fail "--cleanup left a worker"
grep -q 'left behind' err && fail "--cleanup: $(cat err)"

# ---- readiness
from=$(seconds)
under --timeout-ready 1 -- sh -c "cat '$loading'; exec sleep 60"
within "$from" 15 "--timeout-ready"
want_status 143 --timeout-ready
want_field '.causes[0] | .class + "/" + .subclass' hang/init-timeout --timeout-ready
under --timeout-ready 1 -- sh -c "cat '$served'; sleep 2; exit 0"
want_status 0 "--timeout-ready and a server that is ready"
under --timeout-ready 1 --ready 'listening on [0-9]+' -- sh -c "cat '$loading'; echo listening on 8000; sleep 2; exit 0"
want_status 0 "--timeout-ready with --ready"
under --ready 'listening on [0-9]+' -- sh -c "cat '$loading'; echo listening on 8000; kill -TERM \$\$"
want_field .status healthy "--ready, then SIGTERM"
from=$(seconds)
under --no-record --timeout-ready 1 -- sh -c "trap '' TERM; while :; do sleep 1; done"
within "$from" 20 "--timeout-ready with a command that ignores SIGTERM"
want_status 137 "--timeout-ready with a command that ignores SIGTERM"

# ---- a terminal
under --no-record --pty always -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo terminal; exit 5'
want_status 5 "--pty always"
grep -q terminal out || fail "--pty always gives no terminal"
under --no-record --pty never -- sh -c 'test -t 1 || echo none'
want_out none
status=0
printf 'typed\n' | timeout 20 "$DIAGNOSE" run --no-record --no-device --pty always -- cat >out 2>err || status=$?
want_status 0 "--pty always and the end of standard input"
want_out typed
if command -v script >/dev/null; then
    # On a terminal Ctrl-C is the terminal's: it reaches the command once, by whichever way.
    for pty in always never; do
        cat >interrupted.sh <<EOF
n=0
trap 'n=\$((n + 1))' INT
echo waiting
for i in 1 2 3 4 5 6 7 8; do sleep 0.5; done
echo "interrupts: \$n"
exit 3
EOF
        {
            sleep 1.5
            printf '\003'
            sleep 5
        } | script -qefc "'$DIAGNOSE' run --no-record --no-device --pty $pty -- bash interrupted.sh; echo status \$?" typescript >/dev/null 2>&1 || true
        grep -q 'interrupts: 1' typescript || fail "Ctrl-C, --pty $pty: $(tr -d '\r' <typescript | head -c 400)"
        grep -q 'status 3' typescript || fail "Ctrl-C, --pty $pty: the status is lost"
    done
    script -qefc "'$DIAGNOSE' run --no-record --no-device -- sh -c 'test -t 1 && echo terminal'" typescript </dev/null >/dev/null 2>&1 || true
    grep -q terminal typescript || fail "on a terminal the command has none"
else
    echo "script(1) is not here: Ctrl-C is not tested"
fi
# kill -INT of the tool alone is passed on, once
rm -f pid
# shellcheck disable=SC2016
(trap - INT; exec "$DIAGNOSE" run --no-record --no-device -- bash -c 'n=0; trap "n=\$((n + 1))" INT; echo $$ >pid; for i in 1 2 3 4; do sleep 0.5; done; echo "interrupts: $n"') >out 2>err </dev/null &
tool=$!
until [ -s pid ]; do sleep 0.1; done
kill -INT $tool
wait $tool || true
want_out "interrupts: 1"

# ---- the log
under --no-record --log mine.log -- sh -c 'echo one; echo two >&2'
printf 'one\ntwo\n' | cmp - mine.log || fail "--log holds '$(cat mine.log)'"
[ "$(stat -c %a mine.log)" = 600 ] || fail "the log may be read by others"
[ "$(find "$logs" -type f ! -perm 600 | wc -l)" = 0 ] || fail "logs may be read by others"
touch -d '31 days ago' "$logs/run-20200101T000000Z-1.log"
touch -d '31 days ago' "$logs/of-others.log"
under --no-record -- true
[ ! -e "$logs/run-20200101T000000Z-1.log" ] || fail "a log of 31 days ago is kept"
[ -e "$logs/of-others.log" ] || fail "a file that is not ours was removed"

# ---- no home that can be written to: the folder of the session when it is ours alone, else memory; never where others write
session=$work/session
homeless() { # WHAT: the verdict is as ever
    status=0
    find /tmp /var/tmp /dev/shm -maxdepth 1 -name 'run-*.log' 2>/dev/null | sort >before
    env -u XDG_STATE_HOME HOME=/proc/none XDG_RUNTIME_DIR="$session" "$DIAGNOSE" run --no-record --device 12.0 --report r.json \
        --format json -- sh -c "cat '$cases/story-a/server.log'; exit 1" >out 2>err </dev/null || status=$?
    want_status 1 "$1"
    want_same "$cases/story-a/server.log"
    [ "$(jq -r '.causes[0].class' r.json)" = arch-mismatch ] || fail "$1: the verdict is $(jq -c '.causes[0].class' r.json)"
    find /tmp /var/tmp /dev/shm -maxdepth 1 -name 'run-*.log' 2>/dev/null | sort | diff before - || fail "$1: a log where others may write"
}
mkdir -m 700 "$session"
homeless "no home, a session"
cmp "$cases/story-a/server.log" "$session"/diagnose/run-*.log || fail "the log of a session differs"
[ "$(stat -c %a "$session"/diagnose)" = 700 ] || fail "the folder of a session's logs is open"
want_err "log: $session/diagnose/run-"
rm -r "$session/diagnose"
chmod 755 "$session"
homeless "no home, a session that is open to others"
want_err "the log is not kept, its first and last 8 MiB are judged"
[ ! -e "$session/diagnose" ] || fail "a log in a folder that is open to others"
[ "$(jq -r '.inputs[0] | .source + " " + .kind' r.json)" = "output server" ] || fail "what was judged: $(jq -c .inputs r.json)"
ln -s "$work" "$work/link" && chmod 700 "$work"
session=$work/link
homeless "no home, a session that is a link"
want_err "the log is not kept"
session=
homeless "no home, no session"
status=0
(ulimit -f 4 && exec "$DIAGNOSE" run --no-record --device 12.0 --log cut.log -- sh -c "cat '$cases/story-a/server.log' -; exit 1") \
    2> >(cat >err) </dev/null | cat >out
for _ in $(seq 50); do
    grep -q 'the command ended' err && break
    sleep 0.1
done
want_same "$cases/story-a/server.log"
want_err "the log ends early: File too large"

# ---- what is recorded: the command as typed, what chose the backends, no secret
status=0
VLLM_USE_V1=1 NCCL_P2P_DISABLE=1 CUDA_VISIBLE_DEVICES=0,1 SGLANG_API_KEY=sk-verysecret-0123456789abcdef HOMEPAGE=x \
    "$DIAGNOSE" run --device 12.0 -- sh -c "cat '$cases/story-a/server.log'; exit 1" 'a b' "it's" --api-key sk-othersecret-0123456789abcdef >out 2>err || status=$?
command=$(field .attempt.command)
for part in VLLM_USE_V1=1 NCCL_P2P_DISABLE=1 CUDA_VISIBLE_DEVICES=0,1 "'a b'" "'it'\\''s'" --api-key SGLANG_API_KEY=; do
    case $command in *"$part"*) ;; *) fail "the recorded command lacks $part: $command" ;; esac
done
case $command in *HOMEPAGE*) fail "the recorded command holds what chooses nothing: $command" ;; esac
case $command in *verysecret* | *othersecret*) fail "the recorded command holds a secret: $command" ;; esac
for file in history.db history.db-wal; do
    [ ! -e "$XDG_STATE_HOME/diagnose/$file" ] || ! grep -qa 'verysecret\|othersecret' "$XDG_STATE_HOME/diagnose/$file" || fail "$file holds a secret"
done
under --quiet -- sh -c "cat '$cases/story-a/server.log'; exit 1"
[ ! -s err ] || fail "--quiet: $(head -c 300 err)"
under --report r.json --format json -- sh -c "cat '$cases/story-a/server.log'; exit 1"
[ "$(jq -r '.causes[0].class' r.json)" = arch-mismatch ] || fail "--report holds no report"

# ---- a real memory limit, where one may be made (version 2, else 1)
limit_memory() { # FOLDER
    mkdir "$1" 2>/dev/null || return 1
    [ -w "$1/cgroup.procs" ] && echo 67108864 2>/dev/null >"$1/$2" && return 0
    rmdir "$1"
    return 1
}
if limit_memory /sys/fs/cgroup/diagnose-test-$$ memory.max; then
    cgroup=/sys/fs/cgroup/diagnose-test-$$
elif limit_memory /sys/fs/cgroup/memory/diagnose-test-$$ memory.limit_in_bytes; then
    cgroup=/sys/fs/cgroup/memory/diagnose-test-$$
else
    cgroup=
    echo "no cgroup with a memory limit may be made here: NOT TESTED: a command that the kernel kills for memory"
fi
if [ -n "$cgroup" ]; then
    status=0
    sh -c "echo \$\$ >$cgroup/cgroup.procs && exec '$DIAGNOSE' run --device 12.0 -- sh -c \"cat '$loading'; exec tail /dev/zero\"" >out 2>err </dev/null || status=$?
    rmdir "$cgroup"
    want_status 137 "the kernel kills it for memory"
    want_field '.causes[0] | .class + "/" + .subclass' oom-host/cgroup-oom "the kernel kills it for memory"
    want_field '[.proposals[] | select(.scope == "container") | .command] | map(select(. != null and test("--memory"))) | length' 0 \
        "a flag of the container is put into the server's command"
    under -- sh -c "cat '$loading'; kill -KILL \$\$"
    want_field .status inconclusive "a kill after that one"
fi

# ---- speed: 200 MB through it against tee; printed, and held with much room, as machines are shared
yes "$(head -n 40 "$served" | tail -n 1)" | head -c 209715200 >many.txt || true
cat >produce.sh <<'EOF'
a=$(date +%s%N)
cat many.txt
b=$(date +%s%N)
echo $(((b - a) / 1000000)) >took
EOF
best() { # COMMAND...: the least of three times that the output took, in ms; what comes after it is not counted
    local least=1000000 n
    for n in 1 2 3; do
        "$@" 2>"took.$n" | cat >/dev/null
        [ "$(cat took)" -lt $least ] && least=$(cat took)
    done
    echo "$least"
}
by_tee() { sh produce.sh | tee tee.log; }
by_run() { "$DIAGNOSE" run --no-record --no-device --log run.log -- sh produce.sh </dev/null; }
tee_ms=$(best by_tee)
run_ms=$(best by_run)
cmp many.txt run.log || fail "200 MB: the log that was kept differs"
echo "200 MB: through run $run_ms ms, through tee $tee_ms ms"
[ "$run_ms" -le $((tee_ms * 3 + 200)) ] || fail "200 MB took $run_ms ms, with tee $tee_ms ms"
finish
