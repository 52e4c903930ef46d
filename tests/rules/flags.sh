#!/bin/bash
# No proposal names a flag, a variable or a value that the engine's release does not have.
exec python3 "$SOURCE_DIR/tests/golden/check_flags.py" "$SOURCE_DIR"
