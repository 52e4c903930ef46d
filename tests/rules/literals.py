"""How common the rules' literals are in healthy logs. Each occurrence costs a look at its line, so that a literal that is
in more than one of a thousand lines makes every scan slower. What a match must *not* have beside it is looked at only
where something was begun, so that it may be more common, in one of a hundred lines; its own words can stand in its regex.

usage: literals.py SOURCE_DIR

Counted is from each log's first sign of service on: a start prints its marks once, and short logs are all start. Left out
are rules that are signs of service and noise rules: what healthy logs are full of is what they look for.
"""
import fnmatch
import glob
import json
import os
import sys

import yaml

LIMIT = 1000  # lines for one occurrence
LIMIT_OF_NOT = 100
COMMON = {  # rules: why their literals have to be common ones
    "numerics/garbage-repeat": "request dumps are where garbage shows",
    "numerics/garbage-logged": "request dumps are where garbage shows",
    "numerics/garbage-answer": "request dumps are where garbage shows",
    "numerics/garbage-logged-answer": "request dumps are where garbage shows",
    "numerics/fp8-kv-garbage": "request dumps are where garbage shows",
    "general/*": "refusals in free words have no rarer ones",
    "guess/*": "an error of which no more is known has no rarer word",
    "config/flag-refused": "a refusal in free words has no rarer word",
    "config/attention-refuses": "a refusal in free words has no rarer word",
    "config/engine-refuses": "a refusal in free words has no rarer word",
    "config/weight-name-unknown": "shares its words with a client's unknown model",
    "areas/*": "the frames and the last line of a traceback",
    "engine-checks/not-implemented": "the frames and the last line of a traceback",
    "engine-checks/name-undefined": "the frames and the last line of a traceback",
    "engine-checks/strict-config": "the frames and the last line of a traceback",
    "sglang-own/cute-attention": "the frames and the last line of a traceback",
    "sm-arch-guard/trtllm-moe-backend-arch": "the frames and the last line of a traceback",
    "libraries/launch-memory": "a refusal in free words has no rarer word",
    "vllm-own/symmetric-memory": "the frames and the last line of a traceback",
    "config/option-not-given": "the frames and the last line of a traceback",
    "config/weight-shape": "the frames and the last line of a traceback",
    "config/refused-at-init": "the frames and the last line of a traceback",
    "facts/sglang-command": "the engine's name is all that its commands share",
    "facts/hf-shards": "a progress bar",
    "facts/vllm-path": "the frames of requests' tracebacks",
    "facts/shell-killed": "one word; prompts quote it",
    "facts/shell-aborted": "prompts quote it",
    "kernel-log/hung-task-nvidia": "the module in brackets ends every frame of its stack",
    "oom-device/torch-oom-weights-phase": "a progress bar",
    "wrappers/uvicorn-startup-failed": "the head of any traceback",
    "wrappers/request-handler-failed": "said for each client that hung up",
    "wrappers/requests-fail": "a request that succeeds ends the row of those that failed",
    "hang/vllm-no-tokens": "a token ends the wait for one",
    "sglang-own/detokenizer-silent": "a token ends the wait for one",
    "stopped/unit-stopped-before-ready": "a request that succeeds ends the start",
    "stopped/vllm-stopped-before-ready": "an error of any kind would be the reason",
    "stopped/tgi-stopped-before-ready": "an error of any kind would be the reason",
    "hang/capture-stops": "an error of any kind would be the reason",
}


def patterns(match, keys=("any", "all", "sequence")):
    alone = [match] if "lit" in match and "not" not in keys else []
    return [p["lit"].encode() for p in alone + sum((match.get(k, []) for k in keys), [])]


def shipped_rules(source):
    for path in sorted(glob.glob(os.path.join(source, "rules", "*", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            pack = yaml.safe_load(file)
        for rule in pack.get("rules", []):
            yield "%s/%s" % (pack["pack"], rule["id"]), rule


def healthy_lines(source, signs):
    lines = []
    for label in sorted(glob.glob(os.path.join(source, "fixtures", "logs", "*", "case.json"))):
        with open(label, encoding="utf-8") as file:
            if json.load(file)["class"] != "none":
                continue
        for path in sorted(set(glob.glob(os.path.join(os.path.dirname(label), "*"))) - {label}):
            with open(path, "rb") as file:
                log = file.read().split(b"\n")
            first = next((i for i, line in enumerate(log) if any(s in line for s in signs)), 0)
            lines += log[first:]
    return lines


def main():
    rules = list(shipped_rules(sys.argv[1]))
    lines = healthy_lines(sys.argv[1], [p for _, r in rules if r.get("pulse") for p in patterns(r["match"])])
    text, faults = b"\n".join(lines), 0
    for name, rule in rules:
        if rule.get("pulse") or rule["role"] == "noise" or any(fnmatch.fnmatch(name, c) for c in COMMON):
            continue
        for keys, limit in ((("any", "all", "sequence"), LIMIT), (("not",), LIMIT_OF_NOT)):
            for literal in patterns(rule["match"], keys):
                if text.count(literal) * limit <= len(lines):  # no fewer than the lines that hold it
                    continue
                n = sum(literal in line for line in lines)
                if n * limit > len(lines):
                    print("%s: %r is in %d of %d healthy lines" % (name, literal.decode(), n, len(lines)))
                    faults += 1
    return faults > 0


sys.exit(main())
