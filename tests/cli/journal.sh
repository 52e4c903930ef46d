#!/bin/bash
# The journal of a whole host: the kernel's lines, the server's and those of others in one file.
. "$(dirname "$0")/lib.sh"
served=$cases/healthy-vllm-013-journal-stop/log.txt
head -n 60 "$served" >serving.log # while it serves

judge() { # VERDICT WHAT: of a.log; VERDICT is the class, or the status where there is no cause
    run --no-record --no-device --format json a.log
    local got
    got=$(jq -r '.causes[0].class // .status' out)
    [ "$got" = "$1" ] || fail "$2: $got, not $1: $(jq -c '[.causes[0].summary, .causes[0].evidence]' out)"
}
lines() { # LINE...: behind what the server printed, a second apart
    local i=0 line
    cp serving.log a.log
    for line in "$@"; do
        printf 'Jan 08 08:00:%02d inf07 %s\n' $((i += 1)) "$line" >>a.log
    done
}

# ---- another service's failure is not the server's; the server's own is
cp serving.log a.log
judge healthy "a server that serves"
traceback=("Traceback (most recent call last):" '  File "/srv/trainer/main.py", line 12, in <module>'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.57 GiB")
lines "${traceback[@]/#/trainer[771]: }"
judge healthy "a trainer beside it ran out of memory"
lines "${traceback[@]/#/vllm[2210]: }"
judge oom-device "the server ran out of memory"
lines "${traceback[@]/#/trainer[771]: }" "${traceback[@]/#/vllm[2210]: }"
judge oom-device "both ran out of memory"
[ "$(jq -r '.causes[0].evidence[0].line' out)" = 66 ] || fail "the evidence is not the server's own: $(jq -c '.causes[0].evidence' out)"
lines "trainer[771]: RuntimeError: the frobnicator is out of joint"
judge healthy "a failure of another that no rule knows"

# ---- what watches over all speaks of the server unless it names another
killed="A process of this unit has been killed by the OOM killer."
lines "systemd[1]: vllm.service: $killed" "systemd[1]: vllm.service: Failed with result 'oom-kill'."
judge oom-host "systemd names the server"
lines "systemd[1]: llm.service: $killed" "systemd[1]: llm.service: Failed with result 'oom-kill'."
judge oom-host "systemd names it otherwise"
lines "systemd[1]: trainer.service: $killed" "systemd[1]: trainer.service: Failed with result 'oom-kill'." "${traceback[@]/#/trainer[771]: }"
judge healthy "systemd names another service that speaks in the journal"

# ---- the kernel in the same journal is judged as the kernel
run --no-record --no-device --format json "$cases/ollama-oom-journal/log.txt"
[ "$(jq -c '[.inputs[].kind]' out)" = '["server","kernel"]' ] || fail "the kinds are $(jq -c '[.inputs[].kind]' out)"
[ "$(jq -c '.causes[0] | [.class, .confidence, .evidence[0].line]' out)" = '["oom-host","certain",79]' ] || fail "$(jq -c '.causes[0]' out)"
[ "$(jq -r '.attempt.engine' out)" = ollama ] || fail "the server in a journal that is mostly the kernel's is not seen"
finish
