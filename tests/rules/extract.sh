#!/bin/bash
# What the engines themselves can raise on the way to readiness: how often the class is right.
. "$(dirname "$0")/../cli/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "python3 is not here: not replayed"
    exit 77
fi
python3 -B "$SOURCE_DIR/tests/extract/replay" --diagnose "$DIAGNOSE" --min 94 --min-held 92 --misses "$work/misses.tsv" ||
    fail "the share is below its floors: $(cat "$work/misses.tsv")"
finish
