#!/bin/bash
# Mutated fixtures, MUTATIONS of each; FULL=1: a thousand.
set -eu
[ -z "${FULL:-}" ] || MUTATIONS=1000
exec python3 "$SOURCE_DIR/tests/fault/mutate.py" "$DIAGNOSE" "$BUILD_DIR/tests/fuzz/replay_log" "$SOURCE_DIR/fixtures/logs" "${MUTATIONS:-10}" "${SEED:-1}"
