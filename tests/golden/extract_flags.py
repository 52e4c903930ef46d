#!/usr/bin/env python3
"""What an engine's release accepts: extract_flags.py FOLDER > flags/ENGINE-VERSION.txt

FOLDER is an unpacked wheel (`pip download --no-deps sglang==0.5.18`, unzip). Nothing of it is run: the argument parsers are
read as syntax trees. A line is a flag and, after a tab, what may follow it: the choices, '*' for any value, '-' for none;
or an environment variable. Flags that the release knows only to refuse are left out.
"""

import ast
import re
import sys
from pathlib import Path



class Tree:
    """The modules of a package: its constants, classes and enums by name."""

    def __init__(self, root, folders):
        self.constants, self.classes, self.modules = {}, {}, {}
        for folder in folders:
            for path in sorted((root / folder).rglob("*.py")) if (root / folder).is_dir() else [root / folder]:
                if path.exists():
                    self.add(path)

    def add(self, path):
        module = ast.parse(path.read_text())
        self.modules[path] = module
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, node)
        for node in module.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.constants.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.constants.setdefault(node.target.id, node.value)

    def enum(self, name):
        """The members of an enum as (name, value)."""
        body = self.classes[name].body if name in self.classes else []
        return [(n.targets[0].id, n.value) for n in body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]

    def words(self, node):
        """The strings that an expression stands for; None when that takes more than reading."""
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self.joined(node.elts)
        if isinstance(node, ast.Starred):
            return self.words(node.value)
        if isinstance(node, ast.Dict):
            return self.joined(node.keys)
        if isinstance(node, ast.BinOp):
            return self.joined([node.left, node.right])
        if isinstance(node, ast.Name) and node.id in self.constants:
            return self.words(self.constants[node.id])
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            return self.words(node.slice)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "tuple", "sorted", "get_args", "typing.get_args"):
            return self.words(node.args[0])
        if isinstance(node, ast.ListComp):
            return self.comprehended(node)
        return None

    def joined(self, nodes):
        parts = [self.words(n) for n in nodes]
        return None if None in parts else [w for p in parts for w in p]

    def comprehended(self, node):
        members = self.enum(ast.unparse(node.generators[0].iter))
        what = ast.unparse(node.elt).split(".", 1)[-1]
        if not members:
            return None
        if what.startswith("name"):
            return [n.lower() if "lower" in what else n for n, _ in members]
        return self.joined([v for _, v in members])

    def hint(self, node):
        """What a field of this type takes: '-', '*', or choices."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        text = ast.unparse(node)
        if isinstance(node, ast.BinOp):
            sides = [self.hint(n) for n in (node.left, node.right) if ast.unparse(n) != "None"]
        elif isinstance(node, ast.Subscript) and re.search(r"(Optional|Union|Annotated|SkipValidation)$", ast.unparse(node.value)):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            sides = [self.hint(n) for n in (inner[:1] if "Annotated" in ast.unparse(node.value) else inner)]
        elif text == "bool":
            return "-"
        elif isinstance(node, ast.Name) and self.enum(node.id):
            return " ".join(n for n, _ in self.enum(node.id))
        elif isinstance(node, ast.Name) and node.id in self.constants:
            return self.hint(self.constants[node.id])
        else:
            words = self.words(node) if "Literal" in text.split("[")[0] else None
            return " ".join(words) if words else "*"
        if "*" in sides:
            return "*"
        return " ".join(s for s in sides if s != "-") or "-"


def keyword(call, name):
    return next((k.value for k in call.keywords if k.arg == name), None)


def from_call(tree, call, known):
    """An add_argument(): its flags and what they take. `known` answers for **group["field"]."""
    flags = [a.value for a in call.args if isinstance(a, ast.Constant) and str(a.value).startswith("-")]
    action = keyword(call, "action")
    action = ast.unparse(action).strip("'\"") if action else ""
    spread = next((k.value for k in call.keywords if k.arg is None), None)
    takes = "*"
    if action.endswith("DeprecatedAction"):
        return {}
    if "store_true" in action or "store_false" in action or "StoreTrue" in action or "BooleanOptional" in action:
        takes = "-"
    elif keyword(call, "choices") is not None:
        takes = " ".join(tree.words(keyword(call, "choices")) or ["*"])
    elif spread is not None:
        takes = known(spread)
    return {flag: takes for flag in flags if flag.startswith("--")}


def sglang(root):
    args = root / "sglang/srt/server_args.py"
    tree = Tree(root, ["sglang/srt/utils", "sglang/srt/layers/moe/utils.py", "sglang/srt/lora", "sglang/srt/arg_groups", "sglang/srt/environ.py"])
    tree.add(args)
    flags = {}
    nodes = [n for m in tree.modules for n in ast.walk(tree.modules[m]) if m == args or "arg_groups" in m.parts]
    for node in nodes:  # annotated fields: since 0.5.17
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript) and ast.unparse(node.annotation.value) == "A":
            kind, *rest = node.annotation.slice.elts
            arg = next((n for n in rest if isinstance(n, ast.Call) and ast.unparse(n.func) == "Arg"), ast.Call(None, [], []))
            if keyword(arg, "no_cli") is not None:
                continue
            names = ["--" + node.target.id.replace("_", "-")]
            if keyword(arg, "cli_name") is not None:
                names = [keyword(arg, "cli_name").value]
            names += tree.words(keyword(arg, "aliases")) if keyword(arg, "aliases") is not None else []
            takes = tree.hint(kind)
            if keyword(arg, "choices") is not None:
                takes = " ".join(tree.words(keyword(arg, "choices")) or ["*"])
            elif keyword(arg, "action") is not None and takes != "-":
                takes = "*"
            flags.update({name: takes for name in names})
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("add_argument"):
            flags.update(from_call(tree, node, lambda _: "*"))
    variables = set()
    for path in (root / "sglang/srt").rglob("*.py"):
        variables |= set(re.findall(r"[\"'](SGLANG_[A-Z0-9_]+|SGL_[A-Z0-9_]+)[\"']", path.read_text(errors="replace")))
    for node in tree.classes["Envs"].body if "Envs" in tree.classes else []:
        if isinstance(node, ast.Assign):
            variables |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return flags, variables


def vllm(root):
    tree = Tree(root, ["vllm/config", "vllm/attention", "vllm/v1/attention", "vllm/platforms", "vllm/model_executor"])
    tree.add(root / "vllm/engine/arg_utils.py")
    for path in (root / "vllm/entrypoints").rglob("cli_args.py"):
        tree.add(path)
    groups = {}  # variable -> class, or (variable, field)
    for module in tree.modules.values():
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
                if isinstance(value, ast.Call) and ast.unparse(value.func) in ("get_kwargs", "_compute_kwargs"):
                    groups[name] = ast.unparse(value.args[0])
                elif isinstance(value, ast.Subscript) and name.endswith("_kwargs"):
                    groups[name] = value

    def field(class_name, name):
        for node in tree.classes[class_name].body if class_name in tree.classes else []:
            if isinstance(node, ast.AnnAssign) and node.target.id == name:
                return tree.hint(node.annotation)
        for base in tree.classes[class_name].bases if class_name in tree.classes else []:
            return field(ast.unparse(base), name)
        return "*"

    def known(spread):
        if isinstance(spread, ast.Dict) and None in spread.keys:  # {**group["field"], "default": None}
            spread = spread.values[spread.keys.index(None)]
        if isinstance(spread, ast.Name) and spread.id in groups:
            spread = groups[spread.id]
        if isinstance(spread, ast.Subscript) and isinstance(spread.slice, ast.Constant):
            return field(groups.get(ast.unparse(spread.value), ""), spread.slice.value)
        return "*"

    flags = {}
    for module in tree.modules.values():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("add_argument"):
                flags.update(from_call(tree, node, known))
    for class_name in ("BaseFrontendArgs", "FrontendArgs"):
        for node in tree.classes[class_name].body if class_name in tree.classes else []:
            if isinstance(node, ast.AnnAssign):
                flags.setdefault("--" + node.target.id.replace("_", "-"), tree.hint(node.annotation))
    variables = set(re.findall(r"^\s*\"(VLLM_[A-Z0-9_]+)\":", (root / "vllm/envs.py").read_text(), re.M))
    if "VLLM_ATTENTION_BACKEND" in variables:
        names = " ".join(n for n, _ in tree.enum("_Backend") or tree.enum("AttentionBackendEnum"))
        variables = variables - {"VLLM_ATTENTION_BACKEND"} | {f"VLLM_ATTENTION_BACKEND\t{names}"}
    return flags, variables


def main():
    root = Path(sys.argv[1])
    flags, variables = sglang(root) if (root / "sglang").is_dir() else vllm(root)
    for flag in sorted(flags):
        print(f"{flag}\t{' '.join(dict.fromkeys(flags[flag].split()))}")
    print("\n".join(sorted(variables)))


if __name__ == "__main__":
    main()
