#!/bin/sh
# Shell scripts pass shellcheck.
set -eu
cd "$SOURCE_DIR"
if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is not here: not checked"
    exit 77
fi
scripts=$(find tests -name '*.sh' ! -name 'lib*.sh') # libraries are read through those that use them
for file in tools/* .ci/*; do
    [ -f "$file" ] && head -n 1 "$file" | grep -q '^#!.*sh$' && scripts="$scripts $file"
done
# shellcheck disable=SC2086  # a list of words
shellcheck -x -P SCRIPTDIR -P . -S warning $scripts
