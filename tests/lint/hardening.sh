#!/bin/sh
# How the program is built, and what it cannot do: it runs one command, that of `run`, and reaches no network.
set -eu
bad=0
fail() {
    echo "$*" >&2
    bad=1
}

# Only a release is hardened, and a sanitizer brings calls of its own.
readelf --dyn-syms -W "$DIAGNOSE" >symbols.txt
grep -q '__asan_\|__tsan_\|__gcov_\|llvm_gcov' symbols.txt && exit 77
if grep -q 'CMAKE_BUILD_TYPE:STRING=Release' "$BUILD_DIR/CMakeCache.txt"; then
    readelf -hW "$DIAGNOSE" | grep -q 'Type: *DYN' || fail "not position independent"
    readelf -lW "$DIAGNOSE" | grep -q 'GNU_RELRO' || fail "relocations stay writable"
    readelf -dW "$DIAGNOSE" | grep -q 'BIND_NOW\|NOW' || fail "bound lazily"
    readelf -lW "$DIAGNOSE" | grep 'GNU_STACK' | grep -q 'RWE' && fail "the stack is executable"
    grep -q '__stack_chk_fail' symbols.txt || fail "no stack protector"
    grep -q '__[a-z]*printf_chk' symbols.txt || fail "not fortified"
fi

# Symbols that are imported.
imports() {
    awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' symbols.txt
}
for name in system popen wordexp socket connect bind getaddrinfo gethostbyname posix_spawn posix_spawnp execl execlp execle execve execv fexecve; do
    imports | grep -qx "$name" && fail "$name is called"
done
others=$(grep -lw 'exec[a-z]*p*(\|execvp' "$SOURCE_DIR"/src/*/*.c | grep -v '/cli/supervise\.c$' || true)
[ -z "$others" ] || fail "another command could be run: $others"
exit "$bad"
