#!/bin/bash
# Whose word counts: packs and catalogs that everybody may write to are not used, those named by --rules are, with a warning; a file that
# is no log gives no verdict.
. "$SOURCE_DIR/tests/cli/lib.sh"

said="everybody may write here"
rules=$HOME/.config/diagnose/rules
mkdir -p "$rules/below"
cat >mine.yaml <<'YAML'
pack: mine
rules:
- id: mine
  title: mine
  role: cause
  class: config/unsupported-combination
  match: {lit: 'a very peculiar failure'}
  summary: this is mine
  why: It is.
  actions:
  - {do: 'something', kind: setting, because: 'it helps'}
  checked: 2026-11-29
  status: stable
  examples: [{text: 'a very peculiar failure'}]
  near: ['a failure']
YAML
cat >peculiar.yaml <<'YAML'
engine: peculiar
title: Peculiar
checked: 2026-11-29
axes:
- axis: kernel
  spellings:
  - {flag: '--kernel'}
  choices:
  - {name: fast, archs: '>=5.0', build: aot, evidence: documented}
YAML
printf 'RuntimeError: a very peculiar failure\n' >server.log
diagnose() { run --no-device --no-record "$@" server.log; }

cp mine.yaml "$rules/"
diagnose
want_out "this is mine"
[ ! -s err ] || fail "a pack of the user's: $(cat err)"

chmod 777 "$rules"
diagnose
want_err "$said: its rules are not used"
grep -q "this is mine" out && fail "a folder that everybody may write to speaks"
chmod 755 "$rules"
chmod 666 "$rules/mine.yaml"
diagnose
want_err "$said"
grep -q "this is mine" out && fail "a file that everybody may write to speaks"
rm "$rules/mine.yaml"
cp mine.yaml "$rules/below/"
chmod 777 "$rules/below"
diagnose
want_err "$said"
grep -q "this is mine" out && fail "a folder below that everybody may write to speaks"
rm -r "$rules/below"

mkdir named
cp mine.yaml named/
chmod 777 named
diagnose --rules named
want_err "$said"
want_out "this is mine"

cp peculiar.yaml "$rules/"
run catalog
want_out peculiar
chmod 777 "$rules"
run catalog
grep -q peculiar out && fail "a catalog that everybody may write to speaks"
chmod 755 "$rules"

# ---- no file: a pipe among the rules is not waited for
mkfifo "$rules/pipe.yaml"
diagnose
want_err "pipe.yaml: this is no file"
want_out "a very peculiar failure"
run catalog
want_out peculiar
rm "$rules/pipe.yaml"

# ---- no log
for file in "$SOURCE_DIR"/fixtures/bin/{host.so,units.a,speed.fatbin}; do
    run --no-device --no-record "$file"
    want_status 2 "$file"
    want_silent "$file"
    want_err "diagnose inspect"
done
printf '\x89PNG\r\n\x1a\n torch.OutOfMemoryError: CUDA out of memory\n' >picture
run --no-device --no-record picture
want_status 2 "a picture"
want_err "a binary file and no log"
head -c 100000 /dev/urandom >noise
run --no-device --no-record noise
want_status 3 "noise"
finish
