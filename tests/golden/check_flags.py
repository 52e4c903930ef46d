#!/usr/bin/env python3
"""Every flag, variable and value that the catalog or a rule can propose is one that the engine's release accepts.

check_flags.py SOURCE_DIR. flags/ENGINE-VERSION.txt says what a release accepts (extract_flags.py made them). The catalog must
agree with each of these releases; a rule's action with the newest one that it is for.
"""

import re
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed")
    sys.exit(77)

ENGINES = ("sglang", "vllm")
faults = []


def number(version):
    return tuple(int(n) for n in re.findall(r"\d+", version)[:4])


def admits(ranges, version):
    """PEP 440 comparisons as far as plain releases need them."""
    test = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
    }
    for part in filter(None, (p.strip() for p in (ranges or "*").split(","))):
        if part == "*":
            continue
        op, bound = re.match(r"([<>=!]+)\s*(.+)", part).groups()
        a, b = number(version), number(bound)
        width = max(len(a), len(b))
        if not test[op](a + (0,) * (width - len(a)), b + (0,) * (width - len(b))):
            return False
    return True


def read_lists(folder):
    lists = {}
    for path in folder.glob("*.txt"):
        engine, version = path.stem.split("-")
        rows = (line.split("\t") for line in path.read_text().splitlines())
        lists.setdefault(engine, {})[version] = {row[0]: row[1].split() if len(row) > 1 else ["*"] for row in rows}
    return {e: dict(sorted(v.items(), key=lambda item: number(item[0]), reverse=True)) for e, v in lists.items()}


def fault(where, text):
    faults.append(f"{where}: {text}")


def check_word(where, accepted, version, name, value):
    """One flag or variable, and its value ('' for a switch; a template's value may be anything)."""
    name = name.split(".")[0]  # --attention-config.backend is a part of --attention-config
    if name.startswith("--no-") and accepted.get("--" + name[5:]) == ["-"]:
        return None
    if name not in accepted:
        return fault(where, f"{version} has no {name}")
    takes = accepted[name]
    if takes == ["-"] and value:
        return fault(where, f"{name} of {version} takes no value, not even '{value}'")
    if takes not in (["-"], ["*"]) and value and "{" not in value and value not in takes:
        return fault(where, f"{name} of {version} does not take '{value}' but {', '.join(takes)}")
    return None


def check_catalog(path, lists):
    catalog = yaml.safe_load(path.read_text())
    checked = 0
    for version, accepted in lists[catalog["engine"]].items():
        for axis in catalog["axes"]:
            where = f"{path.name}: {axis['axis']}"
            spelling = next((s for s in axis["spellings"] if admits(s.get("versions"), version)), None)
            for choice in axis.get("choices") or []:
                if not spelling or choice["archs"] == "none" or not admits(choice.get("versions"), version):
                    continue
                value = str(choice["name"])
                if value in ("true", "false") and "flag" in spelling:
                    value = ""
                check_word(where, accepted, version, spelling.get("flag") or spelling["env"], value)
                checked += 1
            for order in axis.get("orders") or []:
                if spelling and admits(order.get("versions"), version):
                    for name, value in re.findall(r"(--[a-z0-9-]+)(?: ([a-z0-9_]+))?", " ".join(order.get("with") or [])):
                        check_word(f"{where}, with", accepted, version, name, value)
    return checked


def engines_of(rule, action):
    """(engine, ranges) that the action is for; none when it is for whatever runs."""
    own, whole = action.get("for") or {}, rule.get("for") or {}
    return {e: [r for r in (own.get(e), whole.get(e)) if r] for e in own or whole}


def check_action(where, action, engine, ranges, lists):
    newest = next((v for v in lists[engine] if all(admits(r, v) for r in ranges)), None)
    if not newest:
        return
    accepted = lists[engine][newest]
    for flag in action.get("flags") or []:
        name, value = re.match(r"([^ =]*)[ =]?(.*)", str(flag)).groups()
        if name.startswith("--"):
            check_word(where, accepted, f"{engine} {newest}", name, value)
    for name, value in (action.get("environment") or {}).items():
        if re.match(r"(SGLANG|SGL|VLLM)_", name):
            check_word(where, accepted, f"{engine} {newest}", name, str(value))


def check_rules(path, lists):
    pack = yaml.safe_load(path.read_text())
    checked = 0
    for rule in pack.get("rules") or []:
        for action in rule.get("actions") or []:
            where = f"{path.parent.name}/{path.name}: {rule['id']}"
            named = engines_of(rule, action)
            for engine in ENGINES:
                if engine in named:
                    check_action(where, action, engine, named[engine], lists)
                    checked += 1
            for name in () if named else action.get("environment") or {}:
                engine = {"SGLANG": "sglang", "SGL": "sglang", "VLLM": "vllm"}.get(name.split("_")[0])
                if engine:
                    check_action(where, {"environment": {name: action["environment"][name]}}, engine, [], lists)
            for flag in () if named else action.get("flags") or []:
                name = re.match("[^ =]*", str(flag)).group()
                had = [v for e in ENGINES for v, accepted in lists[e].items() if name in accepted]
                has = [e for e in ENGINES if name in next(iter(lists[e].values()))]
                if had and not has:
                    fault(where, f"{name} is gone, and the action names no release")
    return checked


def main():
    source = Path(sys.argv[1])
    lists = read_lists(source / "tests/golden/flags")
    choices = sum(check_catalog(source / f"rules/engines/{e}.yaml", lists) for e in ENGINES)
    files = [p for p in sorted((source / "rules").glob("*/*.yaml")) if p.parent.name != "engines"]
    actions = sum(check_rules(p, lists) for p in files)
    print("\n".join(faults))
    print(f"{choices} choices and {actions} actions looked at, {len(faults)} faults")
    sys.exit(bool(faults) or choices < 500 or actions < 100)


if __name__ == "__main__":
    main()
