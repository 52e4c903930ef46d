#!/bin/sh
# The project speaks of itself alone: no paths of the machine it was written on, no talk of how it came to be.
set -eu
cd "$SOURCE_DIR"
if [ -d .git ] && command -v git >/dev/null; then
    files=$(git -c safe.directory='*' ls-files)
else
    files=$(find . -type f -not -path './build/*' | sed 's|^\./||')
fi
# Logs and rules quote what programs print; these words mean us only outside of them.
faults=0
for file in $files; do
    [ -f "$file" ] || continue
    case $file in
        fixtures/* | tests/lint/words.sh) continue ;;
    esac
    if grep -nIE '/work/(main|shared|\.)|\.\./shared\>|\<(TODO|FIXME|XXX):?( |$)' "$file"; then
        echo "$file: a path of another machine, or unfinished work"
        faults=$((faults + 1))
    fi
    case $file in
        rules/* | tests/*/*) continue ;;
    esac
    if grep -niIE '\<(this|my|our|next|previous|earlier) (session|assignment)\>|\<as an? (ai|language model)\>|\<(claude|chatgpt|copilot)\>' "$file"; then
        echo "$file: speaks of how it was made"
        faults=$((faults + 1))
    fi
done
[ "$faults" = 0 ]
