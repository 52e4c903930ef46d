#!/bin/bash
# Whole reports, byte for byte, under a few rules of their own. To look at what changed: SHOW=1 tests/cli/golden.sh
. "$(dirname "$0")/lib.sh"
golden=$SOURCE_DIR/tests/cli/golden
cp "$golden"/*.log .
version=$("$DIAGNOSE" --version | cut -d' ' -f2)

golden_run() { # EXPECTED STATUS ARGUMENTS...
    local expected=$1 want=$2
    shift 2
    run --rules-only "$golden/rules" "$@"
    want_status "$want" "$expected"
    sed -i "s/$version/VERSION/" out
    [ -z "${SHOW:-}" ] || cp out "$golden/$expected"
    want_same "$golden/$expected"
}
stated="--no-record --device cc=12.0,count=8"
# shellcheck disable=SC2086  # lists of words
{
    golden_run died.txt 1 $stated died.log
    golden_run died.verbose.txt 1 $stated --verbose died.log
    golden_run died.json 1 $stated --format json died.log
    golden_run died.md 1 $stated --format markdown died.log
    golden_run died.unmasked.md 1 $stated --format markdown --unmask paths,users died.log
    golden_run died.html 1 $stated --format html died.log
    golden_run died.hopper.txt 1 --no-record --device 9.0 died.log
    golden_run died.anywhere.txt 1 --no-record --no-device died.log
    golden_run served.txt 0 $stated served.log
    golden_run stopped.txt 3 $stated stopped.log
    golden_run strange.txt 3 $stated strange.log
    golden_run strange.verbose.txt 3 $stated --verbose strange.log
    golden_run launches.txt 0 $stated --launch list died.log
    { cat died.log; sed 's/ 03:/ 04:/' served.log; sed 's/ 03:/ 05:/' died.log; } >several.log
    golden_run several.list.txt 0 $stated --launch list several.log
    golden_run several.txt 1 $stated several.log
    golden_run several.2.txt 0 $stated --launch 2 several.log
    COLUMNS=120 golden_run died.wide.txt 1 $stated died.log
}
run --rules-only "$golden/rules" $stated --launch 9 several.log
want_status 2 "a launch that is not there"
want_silent
run rules test "$golden/rules"
want_status 0 "the rules of this test"
finish
