#!/bin/bash
# Each allocation fails in turn (FULL=1), or a sample of them: whatever the exit status, it is one, and no signal.
. "$SOURCE_DIR/tests/cli/lib.sh"
shim=$BUILD_DIR/tests/fault/libfailmalloc.so
[ -e "$shim" ] || exit 77 # sanitizers and other C libraries have an allocator of their own
sample=${SAMPLE:-40}

# The first ones, which are unlike each other, then ever larger steps.
numbers() { # COUNT
    if [ -n "${FULL:-}" ]; then
        seq "$1"
    else
        awk -v count="$1" -v sample="$sample" 'BEGIN {
            ratio = exp(log(count) / sample)
            for (n = at = 1; at <= count; at = at * ratio > at + 1 ? at * ratio : at + 1) print int(at)
        }'
    fi
}

torture() { # ARGUMENTS...
    rm -f count
    FAIL_COUNT=$work/count LD_PRELOAD=$shim "$DIAGNOSE" "$@" >out 2>err </dev/null || true
    local count
    count=$(cat count)
    [ "$count" -gt 20 ] || fail "$*: $count allocations"
    numbers "$count" >each
    FAIL_EACH=$work/each LD_PRELOAD=$shim "$DIAGNOSE" "$@" >out 2>err 3>wrong </dev/null || fail "$*: not tortured"
    [ ! -s wrong ] || fail "$*: of $count allocations: $(head -20 wrong)"
    echo "$*: $(wc -l <each) of $count allocations"
}

story=$cases/story-a
mkdir packs
cp "$SOURCE_DIR/rules/servers/harmless.yaml" packs/
run "$story/server.log" # history to read
torture --no-device "$story"/*.log
torture --no-record --rules packs --no-device --format html "$story/server.log"
torture rules lint packs
torture history
torture --last
torture inspect "$SOURCE_DIR/fixtures/bin"
torture device
torture preflight --device 12.0 python -m sglang.launch_server --model-path x --moe-runner-backend flashinfer_trtllm
torture next
finish
