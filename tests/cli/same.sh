#!/bin/bash
# One log, however it comes: a file, a pipe, a redirection, each compression, a bundle, twice. And input that is cut, huge or odd.
. "$(dirname "$0")/lib.sh"

# The report as JSON without what may differ: its number, and how the source is called.
report() { # ARGUMENTS... (standard input is passed on)
    status=0
    "$DIAGNOSE" --format json --no-record --device 12.0 "$@" >raw.json 2>err || status=$?
    jq -S 'del(.recorded) | (.. | .source?) |= (if . == null then null else "S" end) | del(.not_checked)' raw.json
}

for c in story-a clean-dmesg-glm5-sm120 none-pcie-scary-warnings xid79-off-the-bus python-h-missing; do
    log=$(find "$cases/$c" -name 'server.log' -o -name 'log.txt' | head -n 1)
    report "$log" </dev/null >want.json
    [ -s want.json ] || fail "$c: no report"
    report "$log" </dev/null >again.json
    cmp want.json again.json || fail "$c: the second run differs"
    report <"$log" >stdin.json
    cmp want.json stdin.json || fail "$c: standard input differs"
    # shellcheck disable=SC2002  # a pipe is what is tested
    cat "$log" | report - >pipe.json
    cmp want.json pipe.json || fail "$c: a pipe differs"
    while IFS= read -r line; do printf '%s\n' "$line"; done <"$log" | report >slow.json
    tail -c 1 "$log" | od -c | grep -q '\\n' && { cmp want.json slow.json || fail "$c: a pipe of single lines differs"; }
    for z in gzip xz zstd bzip2; do
        command -v $z >/dev/null || continue
        $z -c <"$log" >packed
        report packed </dev/null >$z.json
        cmp want.json $z.json || fail "$c: $z differs"
        report <packed >$z.json
        cmp want.json $z.json || fail "$c: $z through standard input differs"
    done
    tar -cf bundle.tar -C "$(dirname "$log")" "$(basename "$log")"
    gzip -kf bundle.tar
    for b in bundle.tar bundle.tar.gz; do
        report $b </dev/null >bundle.json
        cmp want.json bundle.json || fail "$c: $b differs"
        jq -e --arg s "$b:$(basename "$log")" '.inputs | any(.source == $s)' raw.json >/dev/null || fail "$c: the source in $b is not named"
    done
done

# ---- cut: read as far as it goes
gzip -c <"$cases/story-a/server.log" >whole.gz
size=$(stat -c %s whole.gz)
head -c $((size * 9 / 10)) whole.gz >cut.gz
run --format json --no-record --no-device cut.gz
[ "$(jq '.inputs[0].truncated' out)" = true ] || fail "a truncated .gz is not said to be truncated"
[ "$(jq '.inputs[0].lines' out)" -gt 100 ] || fail "little of a truncated .gz was read"
[ "$status" != 0 ] || fail "a truncated .gz of a failure is healthy"
head -c 5 whole.gz >stump.gz
run --no-record --no-device stump.gz
case $status in 2 | 3) ;; *) fail "a stump of a .gz: status $status" ;; esac

# ---- odd
printf 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. \000\377\376 \033[2J\033]8;;x\007 \342\200\256 end' >odd.log
for form in text json markdown html; do
    run --format $form --no-record --no-device odd.log
    tr -d '\n' <out | LC_ALL=C grep -q "[$(printf '\001-\010\013-\037\177')]" && fail "control bytes in $form"
    iconv -f UTF-8 -t UTF-8 out >/dev/null || fail "$form is not UTF-8"
done
sed 's/$/\r/' "$cases/story-a/server.log" >crlf.log
run --no-record --no-device crlf.log
want_status 1 "CRLF line ends"
{ printf '\377\376' && iconv -f UTF-8 -t UTF-16LE "$cases/story-a/server.log"; } >utf16.log
run --no-record --no-device utf16.log
want_status 1 "UTF-16 with a mark"

# ---- one line of 200 MB, with the failure behind it
{
    head -c 209715200 /dev/zero | tr '\0' 'x'
    printf '\n'
    cat "$cases/story-a/server.log"
} >long.log
run --format json --no-record --no-device long.log
want_status 1 "a log with a line of 200 MB"
[ "$(jq '.inputs[0].long_lines' out)" -ge 1 ] || fail "the long line is not counted"
[ "$(jq '.causes[0].evidence[0].line' out)" -gt 100 ] || fail "the line number behind the long line is wrong"
finish
