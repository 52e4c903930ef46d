#!/bin/bash
# Options as advertised: every row of the table is taken, refused where it should be, and shown by help, manual and completions alike.
. "$(dirname "$0")/lib.sh"

commands=$(sed -n 's/^CMD([A-Z]*, \([a-z]*\),.*/\1/p' "$SOURCE_DIR/src/cli/commands.def")
[ "$(echo "$commands" | wc -w)" -gt 8 ] || fail "commands.def was not understood"

# ---- help fits a screen, and names every option of its command
for c in $commands; do
    word=$c
    [ "$c" = scan ] && word=
    # shellcheck disable=SC2086  # no word for scan
    run $word --help
    want_status 0 "$c --help"
    lines=$(wc -l <"$work/out")
    [ "$lines" -le 24 ] || fail "help of $c has $lines lines"
    awk 'length($0) > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' "$work/out" || fail "help of $c is too wide"
    cp "$work/out" "$work/help.$c"
    "$DIAGNOSE" --generate "man:$c" >"$work/man.$c" || fail "man:$c is not generated"
done
run -h
want_same "$work/help.scan"
for c in $commands; do
    for option in $(sed -n 's/^\.It.* Fl \\-\([a-z-]*\).*/\1/p' "$work/man.$c"); do
        grep -q -- "--$option" "$work/help.$c" || fail "the manual has --$option of $c, its help has not"
    done
    for option in $(grep -o -- ' --[a-z-]*' "$work/help.$c" | tr -d ' -' | sort -u); do
        tr -d '\\-' <"$work/man.$c" | grep -q "$option" || tr -d '\\-' <"$work/man.scan" | grep -q "$option" || fail "help of $c has --$option, the manual has not"
    done
done

# ---- what is typed wrongly is refused, with a word of help, and nothing on standard output
refused() { # TEXT ARGUMENTS...
    local text=$1
    shift
    run "$@"
    want_status 2 "$*"
    want_silent "$*"
    want_err "$text"
}
refused "unknown option '--nonsense'" --nonsense
refused "unknown option '--formt'; is it '--format'?" --formt json x.log
refused "no file or command 'histroy'; is it 'history'?" histroy
refused "cannot open 'server.log'" server.log
refused "unknown option '-x'" -x
refused "unknown option '--verb'" --verb x.log
refused "takes no value" --verbose=1 x.log
refused "needs a value" x.log --db
refused "'history' has no option '--tee'" --tee history
refused "'scan' has no option '--note'; 'outcome' has" --note x
refused "is none of" --format yaml x.log
refused "is none of" --color sometimes x.log
refused "is none of" --unmask everything x.log
refused "no markdown form" history --format markdown
refused "--device or --no-device" --device 12.0 --no-device x.log
refused "with --tee" --tee --format json
refused "once only" - -
refused "once only" --kernel-log - -
refused "without reading anything" --last x.log
refused "not both" --last --show 1
refused "no attempt's number" --show zero
refused "--device: 'potato'" --device memory=potato "$cases/story-g/server.log"
refused "names no" --device count=2 "$cases/story-g/server.log"
refused "no number of a launch" --launch first "$cases/story-g/server.log"
refused "say one of works" outcome
refused "say one of works" outcome perfect
refused "neither a date" history --since yesterday
refused "takes no operands" history x
refused "say list" rules
refused "no rule 'no/such'" rules show no/such
refused "no rule or class 'no-such'" explain no-such
refused "no engine 'nothing'" catalog nothing
refused "say the command" preflight

# ---- before or after the command, with = or without
for arguments in "history --db $work/x.db" "--db $work/x.db history" "--db=$work/x.db history" "history --db=$work/x.db"; do
    # shellcheck disable=SC2086
    run $arguments
    want_status 0 "$arguments"
done
run history --db "$work/x.db" --db "$work/y.db"
want_status 0 "the last value counts"

# ---- a file that bears a command's name
cp "$cases/story-a/server.log" history
for name in ./history "-- history"; do
    # shellcheck disable=SC2086
    run --no-record --no-device $name
    want_status 1 "a file called history"
done
run --no-record --no-device story history # a second word is a file
want_err "story"

run --version
want_status 0 --version
grep -qE '^diagnose [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" || fail "version: $(cat "$work/out")"

# ---- a table on a narrow screen: reasons are read to their end, other cells cut are marked
launch="python -m sglang.launch_server --model x --quantization modelopt_fp4 --moe-runner-backend flashinfer_trtllm"
# shellcheck disable=SC2086
COLUMNS=60 run preflight --device cc=12.0 -- $launch
want_status 1 "preflight on a narrow screen"
grep -q '…' out && fail "a reason is cut: $(cat out)"
[ "$(awk 'length > 60' out | wc -l)" = 0 ] || fail "a reason is wider than the screen: $(cat out)"
tr -s ' \n' ' ' <out | grep -q 'runs on 10.x, this GPU is 12.0' || fail "a reason lost words: $(cat out)"
COLUMNS=60 run catalog
grep -q '[a-z0-9] …$' out || fail "a cut between cells looks like one inside: $(head -3 out)"
finish
