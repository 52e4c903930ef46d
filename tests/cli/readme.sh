#!/bin/bash
# What the README shows and names is so: its report's verdict, its commands, its folders, its exit statuses.
. "$(dirname "$0")/lib.sh"
readme=$SOURCE_DIR/README.md

cd "$cases/story-a"
run --no-record --device cc=12.0,count=8 --kernel-log dmesg.txt server.log
cd "$work"
head -n 2 out | while IFS= read -r line; do grep -qxF -- "$line" "$readme" || { echo "$line"; false; }; done ||
    fail "the report in the README is an old one"

grep -o 'diagnose [a-z]\+' "$readme" | cut -d' ' -f2 | sort -u | while read -r command; do
    case $command in
        server | is) ;; # a file, a word
        *) "$DIAGNOSE" "$command" --help >/dev/null || { echo "$command"; false; } ;;
    esac
done || fail "the README names a command that is not there"
# shellcheck disable=SC2016  # backticks of Markdown
grep -o '`\(src\|rules\|fixtures\|tests\|tools\)/[a-z0-9./_-]*`' "$readme" | tr -d '`' | while read -r path; do
    [ -e "$SOURCE_DIR/$path" ] || { echo "$path"; false; }
done || fail "the README names a path that is not there"
for status in 0 1 2 3 4; do
    grep -q "^| $status |" "$readme" || fail "the README lacks exit status $status"
done
finish
