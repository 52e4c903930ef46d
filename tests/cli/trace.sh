#!/bin/bash
# DIAGNOSE_TRACE: the way of the data beside the report, for its owner alone, without secrets.
. "$(dirname "$0")/lib.sh"
log=$cases/story-d/server.log

traced() { # WHERE ARGUMENTS...
    status=0
    local where=$1
    shift
    DIAGNOSE_TRACE=$where "$DIAGNOSE" --no-record --no-device "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
refused() { # WHERE WHY WHAT: a warning, and the report as ever
    traced "$1" "$log"
    want_status 1 "$3"
    want_same report
    want_err "no trace: cannot write '$1': $2"
}

# ---- on standard error: what was read, found, decided; the report is the same
run --no-record --no-device "$log"
cp out report
traced 1 "$log"
want_status 1 "a trace"
want_same report
want_err "input    0 is '$log': server, 89 lines"
for topic in start input launch hit episode record cause verdict phase end; do
    grep -qE "^ *[0-9]+\.[0-9]{4} $topic +" err || fail "no line of topic $topic"
done
# The thread sanitizer keeps the address for itself where the tables belong.
grep -q __tsan_init "$DIAGNOSE" || ! grep "the matcher is made anew" err || fail "packs.bin has no tables that fit"
want_err "line 52: oom-device/torch-oom: explained by oom-device/torch-oom-weights"
want_err "line 52: oom-device/torch-oom-shuffle: a candidate"
[ "$(awk '$1 + 0 < last { bad++ } { last = $1 + 0 } END { print bad + 0 }' err)" = 0 ] || fail "time runs backwards"
traced '' "$log"
[ ! -s err ] || fail "an empty variable is no trace: $(head -3 err)"

# ---- nothing that harms a terminal, and no secret
printf 'server_args=ServerArgs(model_path="/m", api_key="hunter2secret") \033[31m\302\233x\nValueError: hf_''AbCdEfGhIjKlMnOpQrStUvWx \033]0;t\007\n' >hostile.log
traced 1 hostile.log
grep -q 'hit.*ServerArgs' err || fail "the line with a secret was not traced"
grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2\x9b' err && fail "control bytes in the trace"
grep -q 'hunter2secret\|AbCdEfGh' err && fail "a secret in the trace"

# ---- in a file: made for us alone, then written on
umask 0
traced trace.txt "$log"
umask 022
want_status 1 "a trace in a file"
[ ! -s err ] || fail "a trace in a file: $(cat err)"
[ "$(stat -c %a trace.txt)" = 600 ] || fail "the trace has mode $(stat -c %a trace.txt)"
lines=$(wc -l <trace.txt)
traced trace.txt "$log"
[ "$(wc -l <trace.txt)" = $((2 * lines)) ] || fail "a second trace is not written behind the first"
traced trace.txt --no-such-option
want_status 2 "a usage error"

# ---- in no file that others may have laid there
ln -s trace.txt link && ln trace.txt twin && mkfifo pipe
refused link "Too many levels of symbolic links" "a link"
refused trace.txt "Operation not permitted" "a file with a second name"
refused pipe "No such device or address" "a pipe"
refused "$work" "Is a directory" "a folder"
refused no/such/folder "No such file or directory" "no folder"
if [ "$(id -u)" = 0 ]; then
    touch others && chown 65534 others && chmod 666 others
    refused others "Operation not permitted" "a file of somebody else"
    [ ! -s others ] || fail "a file of somebody else was written to"
fi
finish
