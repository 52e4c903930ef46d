#!/usr/bin/env python3
"""List what engines can raise on the way to readiness: extract.py PACKAGE=VERSION=FOLDER...

FOLDER holds an unpacked wheel. Standard output is a table (tab-separated, one head line): package, version, file,
line, function, exception, text. Placeholders of a message are filled with a plausible value, chosen by the placeholder's name.
"""
import ast
import os
import re
import sys

# Folders and files (below the package's own folder) whose code runs before an engine is ready.
BEFORE_READY = {
    'sglang': r'srt/(server_args|environ|arg_groups/|batch_invariant_ops/|compilation/|configs/|distributed/|eplb/'
              r'|hardware_backend/|layers/|lora/|mem_cache/|model_executor/|model_loader/|platforms/|plugins/'
              r'|speculative/|utils/|kernel_plugins/|weight_cache/|connector/)|kernels/|check_env',
    'vllm': r'(_aiter_ops|_custom_ops|_xpu_ops|env_override|envs)\.py|(compilation|config|cute_utils'
            r'|device_allocator|distributed|engine|kernels|ir|lora|model_executor|platforms|plugins|ray'
            r'|tilelang_utils|transformers_utils|triton_utils|utils|vllm_flash_attn)/'
            r'|v1/(attention|worker|engine|executor|spec_decode|kv_offload|core|kv_cache_interface)',
    'flashinfer': r'',
}
NOT_BEFORE_READY = re.compile(
    r'(^|/)(tests?|testing|benchmarks?|bench_\w+|profiler|trace\w*|fi_trace|collect_env|examples?|debug_utils'
    r'|experimental|kernel_src|prims_ts|data|cake_\w+|moe_ep|gen_\w+|aot\w*|autotune\w*|storage|kv_transfer|ec_transfer|weight_transfer|profile_merger|tuning_\w+|dump\w*|\w*_train\w*|__main__|tactics_blocklist\w*)(/|\.py$)'
    r'|sampling_params|tool_parser|processors?/|multimodal|input_processor|output_processor|async_llm|detokenizer')

# What a message of the five themes says: one row each; the fifth stands by itself.
THEMES = re.compile(
    # GPU capability
    r'\bsm ?_?\d\d|compute[ _]capab|\bcapabilit|\b(cuda|gpu|device|sm) arch|hopper|blackwell|\bampere|\bturing\b|\bvolta\b'
    r'|\bgfx\d|\bcdna|\bmi3\d\d|\b[abh][12]00\b|\bgpus?\b|nvidia|\bdriver\b|\brocm\b|cuda (version|is|device|[12]\d)|\bplatforms?\b'
    # memory
    r'|out of memory|\bmemory\b|\boom\b|kv[ _-]?cache (size|block|memory|space|pool|dtype)|mem[_-]fraction|memory[_-]utilization|\bgi?b\b'
    # building
    r'|\bnvcc\b|\bninja\b|\bcompil\w+|\bjit\b|\bcubin|\bheaders?\b|cuda_home|toolkit|\bbuild(s|ing)?\b|\bbuilt\b|\binstall\w*|\bpip\b|\bimport\b'
    r'|not (available|found)|shared (object|librar)|\bpackages?\b'
    # loading
    r'|\bload(s|ed|er|ing)?\b|checkpoint|safetensors|gguf|tokenizer|config\.json|\bquant(ization|ized|_?method|_?config)|\b(awq|gptq|bitsandbytes)\b'
    r'|\bweights? (file|name|not)|architectures?\b',
    re.I)

# The configuration of a server: of engines only, since a library's caller sets what the library refuses.
CONFIGURATION = re.compile(
    r'--[a-z][a-z-]+|\bargument|divisible by|\b(tensor|pipeline|data|expert|context)[ _-]parallel|\b[tp]p[_ ]size|world[_ ]size|backend|environment variable'
    r'|\b(SGLANG|VLLM|FLASHINFER|NCCL|CUDA)_[A-Z_]+|max[_-]model[_-]len|context[_ ]length|speculative|incompatible|\bnccl\b'
    r'|not (yet )?(supported|compatible|implemented) (with|for|by|on|in|when|yet)|does ?n.t support|do(es)? not support|only support|cannot be (used|enabled|combined|set)|conflict',
    re.I)

# What a kernel's caller did wrong with a tensor: a fault of the program, not of the machine, the files or the flags.
TENSOR_CHECK = re.compile(
    r'contiguous|\b(shapes?|ndim|strides?|numel|dims?|dimensions?|rank-?\d|elements?|aligned|alignment|buffers?|workspace|tensors?|[qkvo]|out|indices|logits|hidden_states|torch\.\w+|tile\w*|smem|tmem|tma)\b'
    r'|\b\w*dtype\b(?!.*kv)|\[\w+, ?[\w ,]+\]|\b\d-?D\b|head_dim')

# What a placeholder may hold, by its name: the first pattern that fits.
FILLS = [
    (r'major', '12'), (r'minor', '0'),
    (r'cap(ability)?s?\b|compute_cap|get_device_capability', '120'), (r'\b(sm|arch)s?(_version|_num)?\b', '120'),
    (r'(torch|cuda|version|ver)\b', '12.8'), (r'platform', 'cuda'), (r'device(_name|_type)?\b', 'cuda'),
    (r'dtype', 'torch.bfloat16'), (r'shape|stride', 'torch.Size([128, 4096])'),
    (r'path|dir|file|filename|folder|cache_root', '/models/m/model.safetensors'),
    (r'quant\w*(method|type|config|algo)?', 'fp8'), (r'backend|runner', 'flashinfer'),
    (r'arch\w*|model_type|model_class|cls|class', 'LlamaForCausalLM'), (r'model', 'Qwen/Qwen3-8B'),
    (r'ratio|fraction|util|frac|scale', '0.9'), (r'(gb|gib|mem|memory|bytes)\b', '23.64'),
    (r'tp|world|rank|group|pp|dp|ep|pcp|dcp', '8'), (r'bits?\b', '4'), (r'port', '30000'),
    (r'host|addr|ip|url', '127.0.0.1'), (r'(e|ex|exc|err|error|exception|reason)\b', 'unknown failure'),
    (r'size|dim|num|len|count|heads?|blocks?|tokens?|width|hidden|max|min|n|m|k|total|idx|index|id', '128'),
    (r'\b(supported|allowed|choices|valid|options|available)', "['auto', 'triton']"),
    (r'name|key|attr|field|arg|param|flag|mode|kind|type|layer|prefix|module|package|lib', 'mode'),
]


def fill(node, spec=''):
    """A value that could stand for the expression `node`."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ('len', 'round', 'int'):
        return '8'
    words = ast.unparse(node).lower()
    if re.search(r'(cap\w*|sm\w*|arch|cc)\[[01]\]$', words):
        return '12' if words.endswith('[0]') else '0'
    last = re.sub(r'\(.*|\[.*', '', words).rsplit('.', 1)[-1]
    value = next((v for p, v in FILLS if re.search(rf'(?:^|_)(?:{p})(?:$|_|\b)', last)),
                 next((v for p, v in FILLS if re.search(rf'(?:\b|_)(?:{p})', words)), 'x'))
    return '128' if 'd' in spec and not value.isdigit() else value


def text_of(node, names):
    """The text that the expression `node` makes, or None where it makes none that can be known."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part.value)
            else:
                spec = ast.unparse(part.format_spec) if part.format_spec else ''
                after_sm = parts and re.search(r'\b(SM|sm_?)$', parts[-1])
                half = after_sm and re.search(r'major|\[0\]', ast.unparse(part.value))
                parts.append(('12' if half else '120') if after_sm else fill(part.value, spec))
        return ''.join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left, names), text_of(node.right, names)
        if left is None and right is None:
            return None
        return (left if left is not None else fill(node.left)) + (right if right is not None else fill(node.right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        base = text_of(node.left, names)
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        fills = iter([fill(v) for v in values])
        return None if base is None else re.sub(r'%[-0-9.]*[srdif]', lambda m: next(fills, 'x'), base)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == 'format':
        base = text_of(node.func.value, names)
        if base is None:
            return None
        fills = iter([fill(v) for v in node.args])
        keys = {k.arg: fill(k.value) for k in node.keywords}
        return re.sub(r'\{(\w*)[^}]*\}', lambda m: keys.get(m[1]) or next(fills, 'x'), base)
    if isinstance(node, ast.Name):
        return names.get(node.id)
    return None


class Walk(ast.NodeVisitor):
    """Collects (line, function, exception, text) of a file's raise and assert statements."""

    def __init__(self):
        self.names = {}
        self.function = '<module>'
        self.found = []

    def visit_FunctionDef(self, node):
        outer = self.names, self.function
        self.names, self.function = dict(self.names), node.name
        self.generic_visit(node)
        self.names, self.function = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Assign(self, node):
        text = text_of(node.value, self.names)
        for target in node.targets:
            if isinstance(target, ast.Name) and text is not None:
                self.names[target.id] = text
        self.generic_visit(node)

    def visit_Raise(self, node):
        if isinstance(node.exc, ast.Call) and node.exc.args:
            text = text_of(node.exc.args[0], self.names)
            if text is not None:
                self.found.append((node.lineno, self.function, ast.unparse(node.exc.func).rsplit('.', 1)[-1], text))

    def visit_Assert(self, node):
        text = text_of(node.msg, self.names) if node.msg is not None else None
        if text is not None:
            self.found.append((node.lineno, self.function, 'AssertionError', text))


def files(folder):
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith('.py'):
                yield os.path.relpath(os.path.join(top, name), folder)


def main():
    seen = set()
    print('package', 'version', 'file', 'line', 'function', 'exception', 'text', sep='\t')
    for operand in sys.argv[1:]:
        package, version, folder = operand.split('=')
        inside = re.compile(BEFORE_READY[package])
        for path in files(os.path.join(folder, package)):
            if not inside.match(path) or NOT_BEFORE_READY.search(path):
                continue
            walk = Walk()
            with open(os.path.join(folder, package, path), encoding='utf-8') as f:
                walk.visit(ast.parse(f.read()))
            for line, function, exception, text in walk.found:
                text = ' '.join(text.split())
                if len(text.split()) < 4 or (package, text) in seen or TENSOR_CHECK.search(text):
                    continue
                if not THEMES.search(text) and (package == 'flashinfer' or not CONFIGURATION.search(text)):
                    continue
                seen.add((package, text))
                print(package, version, path, line, function, exception, text[:300], sep='\t')


if __name__ == '__main__':
    main()
