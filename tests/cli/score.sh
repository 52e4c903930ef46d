#!/bin/bash
# The labelled logs: how often the verdict, the line and the proposal are right. A proposal that would suit logs of six
# other classes counts for none: the more logs, the more of the general ones ("upgrade") do, so its floor is lower.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "python3 is not here: not scored"
    exit 77
fi
python3 "$SOURCE_DIR/tests/score/score" --diagnose "$DIAGNOSE" --show --min-class 99 --min-line 99 --min-next 98 --max-wrong 0 "$cases" ||
    fail "the score is below its floors"
finish
