#!/bin/sh
# A rule that does not keep what its examples promise is told, with the rule's name, and the status is 1.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

head='checked: 2026-11-29, refs: [r], status: stable'
# fails WANTED RULES: `rules test` says WANTED and fails
fails() {
    printf 'pack: p\nrules:\n%s\n' "$2" >"$dir/p.yaml"
    status=0
    out=$("$DIAGNOSE" rules test "$dir/p.yaml" 2>&1) || status=$?
    case $status:$out in
        1:*"$1"*) ;;
        *)
            echo "status $status, not 1 with '$1':"
            echo "$out"
            exit 1
            ;;
    esac
}

rule() { # ID ROLE REST
    printf -- '- {id: %s, title: T, role: %s, %s, %s}\n' "$1" "$2" "$head" "$3"
}
cause='class: comm/nccl-init, summary: s, why: w, actions: [{do: d, kind: setting}]'
fails 'the example does not fire' "$(rule a fact "match: {lit: 'abcdef'}, examples: ['abcdeg'], near: [x]")"
fails 'a near miss fires' "$(rule a fact "match: {lit: 'abcdef'}, examples: ['abcdef'], near: ['xabcdefx']")"
fails 'a capture differs' "$(rule a fact "match: {lit: 'abcdef', re: 'abcdef (?<n>.)'}, examples: [{text: 'abcdef 1', captures: {n: '2'}}], near: [x]")"
fails 'does not make the capture' "$(rule a fact "match: {lit: 'abcdef', re: 'abcdef(?<n>[0-9])?'}, examples: [{text: 'abcdef', captures: {n: '2'}}], near: [x]")"
fails 'a known gap is closed' "$(rule a fact "match: {lit: 'abcdef'}, examples: ['abcdef'], near: [x], known_gap: ['abcdef']")"
fails 'another cause claims the example' "$(
    rule a cause "$cause, match: {lit: 'zyxwvut qq'}, examples: ['zyxwvut qq'], near: [x]"
    rule b cause "$cause, match: {lit: 'zyxwvut'}, examples: ['zyxwvut'], near: [x]"
)"
