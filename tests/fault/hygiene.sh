#!/bin/bash
# Escape codes, markup and secrets.
set -eu
python3 "$SOURCE_DIR/tests/fault/hygiene.py" "$DIAGNOSE"
