#!/bin/bash
# Completions: what each shell offers is what the tables of options and commands say, and words come from rules and history.
. "$(dirname "$0")/lib.sh"
mkdir bin
ln -s "$DIAGNOSE" bin/diagnose # never that of the machine
PATH=$work/bin:$PATH
run --device 12.0 "$cases/story-a/server.log" # attempt 1
for shell in bash zsh fish; do
    diagnose --generate "completions:$shell" >"complete.$shell" || fail "no completions for $shell"
done

commands=$(sed -n 's/^CMD([A-Z]*, \([a-z]*\),.*/\1/p' "$SOURCE_DIR/src/cli/commands.def" | grep -v '^scan$')
options_of() { # COMMAND, in capitals: what the table says
    sed -n 's/^OPT(\([A-Z_]*\), [^,]*, "\([a-z-]*\)", \(NULL\|"[^"]*"\), [A-Z]*, \([^,]*\),.*/\1 \2 \4/p' "$SOURCE_DIR/src/cli/options.def" |
        awk -v on="ON($1)" '$1 != "GENERATE" && (index($0, on) || $3 == "EVERY") { print "--" $2 }' | sort -u
}
[ "$(options_of HISTORY | wc -l)" -gt 12 ] || fail "options.def was not understood"

# ---- bash
# shellcheck disable=SC1091
. ./complete.bash
bash_offers() { # WORDS...: what is offered for the last one
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _diagnose 2>/dev/null || true
    printf '%s\n' "${COMPREPLY[@]}" | sort -u
}
for c in $commands; do
    bash_offers diagnose "$c" -- | diff - <(options_of "${c^^}") || fail "bash offers other options for $c"
done
bash_offers diagnose -- | diff - <(options_of SCAN) || fail "bash offers other options for no command"
for c in $commands; do
    [ "$(bash_offers diagnose "$c" | grep -cx "$c")" = 1 ] || fail "bash does not offer $c"
done
touch some.log
bash_case() { # WANTED WORDS...
    local want=$1 got
    shift
    got=$(bash_offers "$@" | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "bash: '$*' is completed to '$got', not '$want'"
}
bash_case 'history' diagnose his
bash_case 'some.log' diagnose some
bash_case 'some.log' diagnose --kernel-log some
bash_case '--outcome' diagnose history --ou
bash_case '--outcome' diagnose --db x history --ou
bash_case '--outcome' diagnose --db = x history --ou
bash_case 'garbage' diagnose history --outcome g
bash_case 'garbage' diagnose outcome g
bash_case '1' diagnose next ''
bash_case '1' diagnose --show ''
bash_case 'arch-mismatch/sm-guard' diagnose history --class arch-mismatch/sm-g
bash_case 'arch-mismatch/sm-guard' diagnose history --class = arch-mismatch/sm-g
bash_case 'markdown' diagnose --format m
bash_case 'tensorrt-llm' diagnose --engine tens
bash_case 'sglang' diagnose catalog sgl
bash_case 'show' diagnose rules sh
rule=$(diagnose rules list --format jsonl | head -n 1 | jq -r .id)
bash_case "$rule" diagnose explain "$rule"
bash_case "$rule" diagnose rules show "$rule"

# ---- fish
if command -v fish >/dev/null; then
    fish_offers() { # LINE
        fish --no-config -c "source complete.fish; complete -C '$1'" 2>/dev/null | cut -f 1 | sort -u
    }
    for c in $commands; do
        fish_offers "diagnose $c --" | diff - <(options_of "${c^^}") || fail "fish offers other options for $c"
    done
    fish_offers "diagnose --" | diff - <(options_of SCAN) || fail "fish offers other options for no command"
    fish_case() { # WANTED LINE
        [ "$(fish_offers "$2" | tr '\n' ' ')" = "$1 " ] || fail "fish: '$2' is completed to '$(fish_offers "$2" | tr '\n' ' ')', not '$1'"
    }
    fish_case history 'diagnose hist'
    fish_case garbage 'diagnose outcome g'
    fish_case arch-mismatch/sm-guard 'diagnose history --class arch-mismatch/sm-g'
    fish_case 1 'diagnose --show '
    fish_case "$rule" "diagnose explain $rule"
else
    echo "fish is not here: its completions are not tried"
fi

# ---- zsh: a shell on a terminal, the Tab key, and a function that shows what it was given
if command -v zsh >/dev/null; then
    mkdir functions
    cp complete.zsh functions/_diagnose
    cat >tab.zsh <<'EOF'
zmodload zsh/zpty
zpty shell "PS1= zsh -f -i"
zpty -w shell 'fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep'
zpty -w shell 'function diagnose { if [[ $1 == --generate ]]; then command diagnose "$@"; else print -r -- "<$*>"; fi }'
zpty -n -w shell "$1"$'\t\n'
zpty -w shell 'print the-end'
while zpty -r shell line; do
    line=${line//$'\r'/}
    [[ $line == the-end* ]] && break
    [[ $line == '<'*'>'* ]] && print -r -- "${${line#<}%>*}"
done
zpty -d shell
EOF
    zsh_case() { # WANTED TYPED: the command's words after Tab
        local got
        got=$(timeout 30 zsh -f tab.zsh "diagnose $2" | sed 's/ *$//')
        [ "$got" = "$1" ] || fail "zsh: 'diagnose $2' is completed to '$got', not '$1'"
    }
    zsh_case 'history' 'histo'
    zsh_case 'some.log' 'some'
    zsh_case 'history --outcome' 'history --outc'
    zsh_case 'history --outcome garbage' 'history --outcome garb'
    zsh_case 'history --class arch-mismatch/sm-guard' 'history --class arch-mismatch/sm-g'
    zsh_case 'outcome garbage' 'outcome garb'
    zsh_case '--db x history --outcome' '--db x history --outc'
    zsh_case "explain $rule" "explain ${rule%?}"
    for c in $commands; do
        for option in $(options_of "${c^^}"); do
            grep -q -- "'\*\?${option}[=[]" complete.zsh || fail "zsh completions lack $option"
        done
    done
else
    echo "zsh is not here: its completions are not tried"
fi
finish
