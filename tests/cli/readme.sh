#!/bin/bash
# What the README shows and names is so: its report's verdict, its commands, its folders, its exit statuses.
. "$(dirname "$0")/lib.sh"
readme=$SOURCE_DIR/README.md
wrong() { # WHAT, and what is wrong on standard input, a line each
    local lines
    lines=$(cat)
    [ -z "$lines" ] || fail "$1: $lines"
}

cd "$cases/story-a"
run --no-record --device cc=12.0,count=8 --kernel-log dmesg.txt server.log
cd "$work"
want_status 1 "the log of the README"
head -n 2 out | grep -vxFf "$readme" >old || :
wrong "the report in the README is an old one" <old

grep -o 'diagnose [a-z]\+' "$readme" | cut -d' ' -f2 | sort -u | while read -r command; do
    case $command in
        server | is) ;; # a file, a word
        *) "$DIAGNOSE" "$command" --help >/dev/null || echo "$command" ;;
    esac
done >unknown
wrong "the README names a command that is not there" <unknown
# shellcheck disable=SC2016  # backticks of Markdown
grep -o '`\(src\|rules\|fixtures\|tests\|tools\)/[a-z0-9./_-]*`' "$readme" | tr -d '`' | while read -r path; do
    [ -e "$SOURCE_DIR/$path" ] || echo "$path"
done >absent
wrong "the README names a path that is not there" <absent
# What has arguments, or begins a line, is to be typed.
# shellcheck disable=SC2016
grep -oE '`(tools|tests)/[a-z0-9./_-]+ |^(tools|tests)/[a-z0-9./_-]+' "$readme" | tr -d '` ' | while read -r path; do
    [ -x "$SOURCE_DIR/$path" ] || echo "$path"
done >inert
wrong "the README tells to type what cannot be run" <inert
for status in 0 1 2 3 4; do
    grep -q "^| $status |" "$readme" || fail "the README lacks exit status $status"
done
finish
