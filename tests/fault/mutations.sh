#!/bin/bash
# Mutated fixtures. MUTATIONS=1000 for the long form: that many of each fixture.
set -eu
logs=$SOURCE_DIR/fixtures/logs
python3 "$SOURCE_DIR/tests/fault/mutate.py" "$DIAGNOSE" "$logs" "${MUTATIONS:-3}" "${SEED:-1}"
