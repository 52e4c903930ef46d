# Sourced by every script here: a fixed world, a scratch folder, and checks that say what differs.
# shellcheck shell=bash
set -eu
unset CDPATH DIAGNOSE_DB DIAGNOSE_TRACE NO_COLOR XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR CUDA_VISIBLE_DEVICES
export TZ=UTC LC_ALL=C.UTF-8 TERM=dumb COLUMNS=80
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
mkdir "$HOME"
cases=$SOURCE_DIR/fixtures/logs
cd "$work"
faults=0

fail() { # WORDS...
    echo "FAIL: $*" >&2
    faults=$((faults + 1))
}

# Run the tool; out, err and status are what it left. Standard input is empty unless redirected by the caller of `run_in`.
run() {
    status=0
    "$DIAGNOSE" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
run_in() { # reads standard input
    status=0
    "$DIAGNOSE" "$@" >"$work/out" 2>"$work/err" || status=$?
}

want_status() { # STATUS WHAT...
    local want=$1
    shift
    [ "$status" = "$want" ] || fail "$*: status $status, not $want: $(head -c 300 "$work/err")"
}
want_out() { # TEXT: somewhere in standard output
    grep -qF -- "$1" "$work/out" || fail "standard output lacks '$1': $(head -c 600 "$work/out")"
}
want_err() { # TEXT: somewhere in standard error
    grep -qF -- "$1" "$work/err" || fail "standard error lacks '$1': $(head -c 600 "$work/err")"
}
want_silent() { # nothing on standard output
    [ ! -s "$work/out" ] || fail "$*: standard output is not empty: $(head -c 300 "$work/out")"
}
# Standard output byte for byte.
want_same() { # EXPECTED_FILE
    diff -u "$1" "$work/out" || fail "standard output differs from $1"
}

finish() { # the last line of every script
    [ "$faults" = 0 ] || {
        echo "$faults faults" >&2
        exit 1
    }
}
