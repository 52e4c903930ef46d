#!/bin/bash
# What a pack or a log can reach: nothing. Both are full of names of files, commands and hosts; the program opens its own files and
# what it was given, starts no process that runs another program, and makes no socket.
. "$SOURCE_DIR/tests/cli/lib.sh"
strace -f -o probe true 2>/dev/null || exit 77 # not installed, or tracing is not allowed here
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # its leak check needs the place of the tracer

secret=$work/secret
mkdir "$secret" packs refused
echo "RuntimeError: the secret" >"$secret/x"
cp "$secret/x" "$secret/x.so"
shell="\$(touch $work/touched)\`touch $work/touched\`;touch $work/touched"

# ---- packs: in one that is taken each text is a name; those below ask the reader of YAML to fetch
cat >packs/taken.yaml <<YAML
pack: taken
rules:
- id: reach
  title: '$secret/x'
  role: cause
  class: config/unsupported-combination
  in: [server]
  for: {'vllm': '*'}
  match:
    any:
    - {lit: 'cannot reach', re: 'cannot reach (?<file>[^ ]+) (?<what>.*)'}
    - {lit: 'RuntimeError: $secret/x'}
  captures: {file: path, what: text}
  key: [file]
  rejects: [{axis: '$secret/x', value: fact, on: '12.x', how: crash}]
  refines: ['$secret/x']
  explains: ['$secret/*']
  summary: 'reached {file}'
  why: 'file://$secret/x <img src="http://127.0.0.1:9/x"> $shell'
  actions:
  - do: 'run {file} $shell'
    kind: environment
    flags: ['--config $secret/x', '--file={file}', '@$secret/x']
    environment: {LD_PRELOAD: '$secret/x.so', PYTHONSTARTUP: '$secret/x', BASH_ENV: '{file}'}
    packages: ['$secret/x', 'git+http://127.0.0.1:9/x']
    command: 'cat $secret/x $shell'
    because: '{file} $shell'
    cost: '$secret/x'
    undo: '$shell'
    cautions: ['$secret/x', '$shell']
  avoid: [{do: '$shell', because: '$secret/x'}]
  checked: 2026-11-29
  refs: ['$secret/x', 'http://127.0.0.1:9/x']
  status: stable
  examples: [{text: 'cannot reach $secret/x $shell', captures: {file: '$secret/x'}}]
  near: ['$secret/y', '$shell']
- id: dump
  title: '$shell'
  role: fact
  begins: episode
  match: {lit: 'server_args=ServerArgs(', re: 'server_args=ServerArgs\((?<args>.*)\)', long: true}
  captures: {args: text}
  parse: {args: python-kwargs}
  set: {engine: vllm, model: args.model_path, choices: 'args.*', driver: args.config}
  checked: 2026-11-29
  status: stable
  examples: [{text: 'server_args=ServerArgs(model_path=1)'}]
  near: ['server_args']
YAML
n=0
refuse() { # TEXT...: a file that is refused
    n=$((n + 1))
    printf '%s\n' "$@" >refused/$n.yaml
}
head="pack: refused
rules:"
refuse "$head !include $secret/x"
refuse "$head !include_dir_list $secret"
refuse "$head !!python/object/apply:os.system ['touch $work/touched']"
refuse "$head !!python/object/new:subprocess.Popen [[touch, $work/touched]]"
refuse "$head !!binary $secret/x"
refuse "%TAG ! tag:$secret/x," "---" "$head !x []"
refuse "pack: &a refused" "rules: [{<<: *a, id: x}]"
refuse "pack: refused" "rules: [{<<: {id: x}, title: x}]"
refuse "pack: refused" "include: $secret/x" "rules: []"
refuse "pack: refused" "extends: [http://127.0.0.1:9/x]" "rules: []"
refuse "$head" "- {id: '../../secret/x', title: x, role: fact, match: {lit: 'abcdefgh'}}"
refuse "$head" "- {id: x, title: x, role: fact, match: {lit: 'abcdefgh', re: '(?C\"$secret/x\")abc'}}"
refuse "$head" "- {id: x, title: x, role: fact, script: '$secret/x', match: {lit: 'abcdefgh'}}"
refuse "engine: '$secret/x'" "title: '$shell'" "include: '$secret/x'" "axes: []"

# ---- logs
cat >server.log <<LOG
server_args=ServerArgs(model_path='$secret/x', config='$secret/x', chat_template='file://$secret/x', host='127.0.0.1', port=9)
$ vllm serve $secret/x --config $secret/x --download-dir "$shell"
INFO 03-07 10:00:00 [api_server.py:1] vLLM API server version 0.11.0
INFO 03-07 10:00:00 loading http://127.0.0.1:9/x and nccl://127.0.0.1:9
Traceback (most recent call last):
  File "$secret/x", line 1, in <module>
    open("$secret/x.so") # $shell
ImportError: $secret/x.so: cannot open shared object file
ninja: build stopped: see $secret/x
/usr/local/cuda/bin/nvcc -c $secret/x -o $secret/x.o
core dumped to $secret/x
[debug] @$secret/x !include $secret/x {{ include "$secret/x" }} \${env:HOME} %n%n%n
cannot reach $secret/x $shell
{"log": "cannot reach $secret/x", "log_path": "$secret/x", "include": "$secret/x"}
RuntimeError: CUDA error: no kernel image is available for execution on the device, in $secret/x.so
LOG
cp server.log "\$(touch touched).log"
mkdir bundle
cp server.log bundle/
ln -s "$secret/x" bundle/link.log
ln "$secret/x" bundle/hard.log
tar -cf bundle.tar -C "$work" bundle/server.log bundle/link.log
tar -rPf bundle.tar "$secret/x" --transform "s,.*,../../..$secret/x,"
command -v zip >/dev/null && zip -qry bundle.zip bundle

# What it may open: itself, libraries, what the loader and libc read, its rules and history, what it was given.
own="$DIAGNOSE|$BUILD_DIR/packs[.]bin|$SOURCE_DIR/rules(/.*)?|/etc/diagnose/rules.*|$HOME(/.*)?|$work/(packs|refused)(/[a-z0-9.]*)?"
given="$work/server[.]log|$work/[$][(]touch touched[)][.]log|$work/bundle[.](tar|zip)"
system='/dev/urandom|/etc/ld[.]so[.].*|(/usr)?/lib(64)?/.*|/dev/null|/etc/localtime|/usr/share/zoneinfo/.*|/usr/share/locale/.*|/proc/self/.*|/proc/(cpuinfo|meminfo|filesystems)|/proc/sys/vm/.*|/sys/(devices/system/cpu|kernel/mm)/.*'
calls=open,openat,openat2,creat,execve,execveat,socket,connect,sendto,sendmsg,mount,name_to_handle_at,unlink,unlinkat,rename,link,symlink

# strace -f: every line is PID CALL(ARGUMENTS) = RESULT.
reached() {
    awk -v allowed="^($own|$given|$system)\$" '
        / = -1 E/ || /^[0-9]+ [-+]/ { next }
        { call = $2; sub(/\(.*/, "", call); path = ""; if (match($0, /"([^"\\]|\\.)*"/)) path = substr($0, RSTART + 1, RLENGTH - 2) }
        call ~ /^exec/ && !execs++ { next }
        call ~ /^(open|creat)/ { if (path !~ /^\//) path = "'"$work"'/" path; if (path ~ allowed) next }
        call ~ /^(unlink|rename)/ && path ~ "^'"$HOME"'/" { next }
        { print }' trace
}
trace() { # STATUS ARGUMENTS...
    local want=$1 more
    shift
    status=0
    strace -f -qq -s 4096 -e "trace=$calls" -o trace "$DIAGNOSE" "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$want" ] || fail "$*: status $status: $(head -c 300 err)"
    grep -q execve trace || fail "$*: nothing was traced"
    more=$(reached)
    [ -z "$more" ] || fail "$*: $(head -5 <<<"$more")"
    [ ! -e touched ] || fail "$*: a command was run"
    ! grep -q "the secret" out || fail "$*: a file was read"
}

# Several failures beside each other, so that each is only possible: status 3.
for form in text json markdown html; do
    trace 3 --no-device --rules packs --format $form server.log
    want_out "reached"
done
trace 3 --no-device --rules packs --rules refused --verbose --color always server.log
trace 3 --no-device --rules packs "\$(touch touched).log"
trace 3 --no-device --rules packs bundle.tar
[ ! -e bundle.zip ] || trace 3 --no-device --rules packs bundle.zip
trace 3 --last
trace 2 diff
for command in history "history --export -" matrix explain; do
    # shellcheck disable=SC2086  # a list of words
    trace 0 $command
done
trace 0 next --rules packs
trace 0 explain --rules packs taken/reach
trace 1 rules test packs
trace 1 rules lint packs
trace 0 catalog --rules packs
for file in refused/*.yaml; do trace 1 rules lint "$file"; done

# The trace itself: a file that is not among the allowed is seen.
own=none
trace_faults=$faults
strace -f -qq -e "trace=$calls" -o trace "$DIAGNOSE" --no-device --no-record server.log >out 2>err </dev/null || true
[ -n "$(reached)" ] || fail "opened files are not seen"
[ "$faults" = "$trace_faults" ]
finish
