#!/bin/bash
# The manual is clean mdoc, and as complete as the option table makes it; its examples of rules are proved by the tool.
. "$(dirname "$0")/lib.sh"

pages="$BUILD_DIR/man/diagnose.1 $SOURCE_DIR/man/diagnose-rules.5"
for page in $pages; do
    [ -s "$page" ] || fail "$page is not there"
    grep -q GENERATE "$page" && fail "$page has a part that was not filled in"
    if command -v mandoc >/dev/null; then
        # Whether the pages that it refers to are installed here says nothing about it.
        mandoc -Tlint "$page" | grep -v 'referenced manual not found\|mandoc.db' && fail "mandoc finds faults in $page"
    fi
done
for what in man:scan man:commands; do
    "$DIAGNOSE" --generate "$what" >new
    [ -s new ] || fail "nothing is generated: $what"
    grep -vxFf "$BUILD_DIR/man/diagnose.1" new && fail "the manual is older than the program: $what"
done
for status in 0 1 2 3 4; do
    grep -qx "\.It $status" "$BUILD_DIR/man/diagnose.1" || fail "the manual lacks exit status $status"
done

# The rule in diagnose-rules(5) is one.
sed -n '/^pack: mine$/,/^\.Ed$/p' "$SOURCE_DIR/man/diagnose-rules.5" | sed '/^\.Ed$/d' >mine.yaml
run rules test mine.yaml
want_status 0 "the example of diagnose-rules(5)"
finish
