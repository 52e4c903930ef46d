#!/bin/bash
# The labelled logs in other clothes (prefixes, a tail, several launches, a pipe) get the same verdict.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "python3 is not here: not tried"
    exit 77
fi
python3 "$SOURCE_DIR/tests/score/metamorph" --diagnose "$DIAGNOSE" --show --min-same 97 --max-other 0.5 "$cases" ||
    fail "other clothes change the verdict"
finish
