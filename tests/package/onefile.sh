#!/bin/bash
# The one file: what it needs, what is inside, and that it judges like the program that is built of shared libraries, down to a
# root folder that holds nothing but it and its three libraries.
. "$(dirname "$0")/../cli/lib.sh"
one=$BUILD_DIR/onefile/diagnose
if [ ! -x "$one" ]; then
    echo "onefile/diagnose was not built here (-DDIAGNOSE_ONEFILE=ON, and the static libraries)"
    exit 77
fi
"$SOURCE_DIR/tools/check-onefile" "$one" || fail "it needs what bare containers lack"
# The check itself can fail.
"$SOURCE_DIR/tools/check-onefile" "$DIAGNOSE" >/dev/null && fail "tools/check-onefile takes the program of shared libraries"

# ---- away from the build folder, where no rules lie beside it
mkdir -p there/bin
cp "$one" there/bin/diagnose
alone=$work/there/bin/diagnose
same() { # ARGUMENTS...: reports byte for byte
    "$DIAGNOSE" --no-record --no-device "$@" >want 2>want.err </dev/null || true
    "$alone" --no-record --no-device "$@" >got 2>got.err </dev/null || true
    [ -s want ] || fail "no report: $*"
    cmp -s want got || fail "the one file judges otherwise: $*: $(diff want got | head -n 5)"
    [ ! -s got.err ] || fail "the one file has something to say: $*: $(head -n 1 got.err)"
}
for c in "$cases"/*/; do
    files=()
    for f in "$c"*; do
        case $f in
            */case.json) ;;
            *) files+=("$f") ;;
        esac
    done
    same --format json "${files[@]}"
done
"$DIAGNOSE" rules list >want
"$alone" rules list >got
cmp want got || fail "the one file has other rules"
"$DIAGNOSE" catalog --format json >want
"$alone" catalog --format json >got
cmp want got || fail "the one file has another catalog"
status=0
"$alone" rules test >out 2>err || status=$?
want_status 2 "rules test of what is inside"
want_err "without examples"
gzip -c <"$cases/story-a/server.log" >log.gz
tar -cJf bundle.tar.xz -C "$cases/story-a" server.log dmesg.txt
same log.gz
same bundle.tar.xz
if command -v zip >/dev/null; then
    zip -qj plain.zip "$cases/story-a/server.log"
    same plain.zip
    zip -qj -P secret locked.zip "$cases/story-a/server.log"
    status=0
    "$alone" --no-record --no-device locked.zip >out 2>err </dev/null || status=$?
    [ $status -le 3 ] || fail "an encrypted zip: status $status"
fi

# ---- a user's packs
pack() { # FILE LITERAL...
    local file=$1 n=0 literal
    shift
    {
        echo "pack: mine"
        echo "rules:"
        for literal; do
            n=$((n + 1))
            echo "- {id: r$n, title: t, role: fact, match: {lit: '$literal'}, checked: 2026-11-29, refs: [x], status: stable, examples: ['$literal'], near: [zz]}"
        done
    } >"$file"
}
pack mine.yaml 'Prefill batch' 'Decode batch' '#running-req:' 'token usage:' 'Traceback (most' 'RuntimeError: No' 'Killed' 'TP0] Prefill' 'qzxj kvwy'
cat >cause.yaml <<'EOF'
pack: mine
rules:
- id: mine
  title: mine
  role: cause
  class: config/unsupported-combination
  match: {lit: 'qzxj kvwy', re: 'kvwy (?<what>[0-9]+)'}
  captures: {what: int}
  key: [what]
  summary: 'mine {what}'
  why: Mine.
  actions: [{do: Do it, kind: setting, because: it helps}]
  checked: 2026-11-29
  refs: [x]
  status: stable
  examples: ['qzxj kvwy 1']
  near: [qzxj]
EOF
{
    cat "$cases/story-g/server.log"
    for n in 1 2 3; do echo "qzxj kvwy $n"; done
} >mine.log
seq 1 60000 | sed 's/.*/qzxj kvwy & Decode batch qzxj kvwy/' >dense.log
for p in mine.yaml cause.yaml; do
    for log in "$cases"/story-*/server.log mine.log dense.log; do
        same --rules $p --format json "$log"
    done
done

# ---- rules beside it are read instead
mkdir -p there/share/diagnose
cp -r "$SOURCE_DIR/rules" there/share/diagnose/rules
rm there/share/diagnose/rules/servers/*.yaml
"$alone" rules list >got
cmp -s want got && fail "rules beside the one file are not read"
rm -r there/share

# ---- a root folder that holds nothing else
if [ "$(id -u)" = 0 ] && chroot / true 2>/dev/null; then
    mkdir -p bare/tmp
    cp "$one" bare/diagnose
    ldd "$one" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p; s/^\t\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
        mkdir -p "bare$(dirname "$library")"
        cp -L "$library" "bare$library"
    done
    [ "$(find bare -name '*.so*' | wc -l)" -le 3 ] || fail "more than three libraries"
    cp "$cases/story-a/server.log" "$cases/story-a/dmesg.txt" bare/
    status=0
    env -i /usr/sbin/chroot bare /diagnose --device cc=12.0,count=8 --kernel-log dmesg.txt server.log >out 2>err </dev/null || status=$?
    want_status 1 "story a in a bare root"
    want_out "arch-mismatch/sm-guard (certain)"
    want_out "Take --moe-runner-backend flashinfer_cutlass"
    want_out "server.log:128"
    want_err "not recorded"
else
    echo "not root: NOT TESTED: a root folder that holds nothing else"
fi
finish
