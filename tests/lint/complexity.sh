#!/bin/sh
# No function has more than 20 ways through it.
set -eu
command -v pmccabe >/dev/null || exit 77
cd "$SOURCE_DIR"
pmccabe src/*/*.c | awk '$1 > 20 { print $6 ": " $7 ": " $1; bad = 1 } END { exit bad }' >&2
