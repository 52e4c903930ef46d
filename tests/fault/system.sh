#!/bin/bash
# A world that says no: outputs that cannot be written, homes that cannot be, disks that are full, signals at any moment. The
# diagnosis is printed all the same; history is never half written.
. "$SOURCE_DIR/tests/cli/lib.sh"
log=$cases/story-a/server.log
db=$work/history.db
signals=15 sizes="0 1 4 16 64"
[ -z "${FULL:-}" ] || signals=150 sizes=$(seq 0 128)

# What is recorded is whole, and WANT attempts are.
want_history() { # WANT WHAT...
    local want=$1
    shift
    python3 - "$db" "$want" <<'PYTHON' || fail "$*"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
sound = db.execute("PRAGMA integrity_check").fetchone()[0]
attempts, diagnoses, reports = (db.execute(q).fetchone()[0] for q in (
    "SELECT count(*) FROM attempts", "SELECT count(*) FROM diagnoses", "SELECT count(DISTINCT attempt_id) FROM diagnoses WHERE json_valid(report)"))
fine = sound == "ok" and attempts == reports and (sys.argv[2] == "any" or attempts == int(sys.argv[2]))
if not fine:
    print(f"integrity {sound}, {attempts} attempts, {diagnoses} diagnoses")
sys.exit(0 if fine else 1)
PYTHON
}

# ---- outputs
run --no-device --db "$db" "$log"
verdict=$status
for form in text json markdown html; do
    status=0
    "$DIAGNOSE" --no-device --no-record --format $form "$log" >/dev/full 2>err || status=$?
    want_status 4 "$form to a full device"
    want_err "standard output"
done
for command in history --last --help --version "rules list" catalog "--generate completions:bash"; do
    status=0
    # shellcheck disable=SC2086
    "$DIAGNOSE" --db "$db" $command >/dev/full 2>err || status=$?
    want_status 4 "$command to a full device"
done
status=0
"$DIAGNOSE" --no-device --no-record "$log" >&- 2>err || status=$?
want_status 4 "standard output is closed"
status=0
"$DIAGNOSE" --no-device --no-record --report /dev/full "$log" >out 2>err || status=$?
want_status 4 "--report to a full device"
status=0
"$DIAGNOSE" --no-device --no-record "$log" >out 2>&- || status=$?
want_status "$verdict" "standard error is closed"

# A pipe that nobody reads: recorded first, then the signal, without a word.
rm -f "$db"
mkfifo pipe
exec 8<>pipe 9>pipe 8<&- # a reader that has gone
status=0
"$DIAGNOSE" --no-device --db "$db" "$log" >&9 2>err || status=$?
exec 9>&-
want_status 141 "a broken pipe"
[ ! -s err ] || fail "a broken pipe: $(cat err)"
want_history 1 "a broken pipe: not recorded"

# ---- homes
unwritable() { # WHAT: the diagnosis is there, with a warning
    want_status "$verdict" "$1"
    [ -s out ] || fail "$1: no report"
    want_err "not recorded"
}
status=0
env -u HOME "$DIAGNOSE" --no-device "$log" >out 2>err </dev/null || status=$?
unwritable "no home"
for home in / relative /nonexistent/home; do
    status=0
    HOME=$home setpriv --reuid 65534 --regid 65534 --clear-groups "$DIAGNOSE" --no-device "$log" >out 2>err </dev/null || status=$?
    unwritable "the home $home"
done
mkdir -p closed packs
cp "$SOURCE_DIR/rules/servers/harmless.yaml" packs/
chmod 755 "$work" closed packs
status=0
XDG_CACHE_HOME=$work/closed HOME=$work/closed setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$DIAGNOSE" --no-device --rules packs "$log" >out 2>err </dev/null || status=$?
unwritable "a read-only home"

# ---- a disk that is full: a small file system where one may be mounted, and a limit on the size of files
rm -f "$db"
run --no-device --db "$db" "$log"
kept=$(wc -c <"$db")
for kib in $sizes; do
    { # what it says goes through pipes, which have no size
        status=0
        (
            ulimit -f $kib
            exec "$DIAGNOSE" --no-device --db "$db" "$cases/story-b"/*.log </dev/null
        ) || status=$?
        echo "$status" >&3
    } 2> >(cat >err) 3>rc | cat >out
    status=$(cat rc)
    [ "$status" -le 3 ] || fail "files of $kib KiB: status $status: $(cat err)"
    [ -s out ] || fail "files of $kib KiB: no report: $(cat err)"
    want_history any "files of $kib KiB"
done
[ "$(wc -c <"$db")" -ge "$kept" ] || fail "history has shrunk"
mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    run --no-device --db small/history.db "$log"
    head -c 1M /dev/zero >small/fill 2>/dev/null || true
    run --no-device --db small/history.db "$cases/story-b"/*.log
    [ -s out ] || fail "a full disk: no report"
    [ "$status" -le 3 ] || fail "a full disk: status $status"
    want_err "not recorded"
    umount small
fi

# ---- signals at any moment; one that meets the leak check of the sanitizer would make that wait for ever
rm -f "$db"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
for signal in INT TERM; do
    for ((i = 0; i < signals; i++)); do
        status=0
        timeout -s $signal "0.0$((RANDOM % 4))$((RANDOM % 1000))" "$DIAGNOSE" --no-device --db "$db" "$log" >out 2>err </dev/null || status=$?
        case $status in "$verdict" | 124 | 130 | 143) ;; *) fail "SIG$signal: status $status" ;; esac
    done
done
[ ! -e "$db" ] || want_history any "a signal left half of it"
run --no-device --db "$db" "$log"
want_status "$verdict" "after the signals"
want_history 1 "after the signals"
finish
