#!/usr/bin/env python3
"""What stands in a log, a file's name, a note or a model's name reaches no output raw, and a secret reaches none at all.

    hygiene.py DIAGNOSE"""
import html.parser
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata

PROGRAM = sys.argv[1]
FORMATS = ["text", "json", "jsonl", "markdown", "html"]
FAULTS = []

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m", "clear": "\x1b[2J\x1b[H", "title": "\x1b]0;owned\x07", "link": "\x1b]8;;http://x.example\x1b\\text\x1b]8;;\x1b\\",
    "dcs": "\x1bP1;2q#0\x1b\\", "c1-csi": "\u009b31m", "c1-osc": "\u009d0;owned\u009c", "bell": "a\x07b", "backspace": "rm\x08\x08ls", "return": "good\rbad",
    "delete": "a\x7fb", "nul": "a\x00b", "vertical": "a\x0bb\x0cc", "rlo": "\u202egnp.exe", "isolate": "\u2066x\u2069", "mark": "a\u200fb", "zero-width": "a\u200bb\ufeffc",
    "separators": "a\u2028b\u2029c", "tags": "a\U000e0041b", "soft": "a\u00adb",
}
MARKUP = {
    "script": "</script><script>alert(1)</script>", "image": "<img src=x onerror=alert(1)>", "attribute": "\" onmouseover=\"alert(1)", "comment": "<!-- x",
    "entity": "&lt;b&gt;&#60;", "backticks": "```\n# head\n```", "pipes": "a | b | c", "link": "[text](javascript:alert(1))", "picture": "![x](http://x.example/y)",
    "heading": "# heading", "rule": "***", "html-block": "<details open ontoggle=alert(1)>",
}


def secret(*parts):
    """Put together here, so that this file holds no text that looks like a leaked key."""
    return "".join(parts)


LETTERS = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1BcD4fGh7jKl0nOp"
HEX = "0123456789abcdef" * 4
# name: (text with {} for the secret, the secret)
SECRETS = {
    "hf": ("token {} was refused", secret("hf", "_", LETTERS[:34])),
    "openai": ("key {}", secret("sk", "-", LETTERS)),
    "openai-project": ("key {}", secret("sk", "-proj-", LETTERS)),
    "anthropic": ("key {}", secret("sk", "-ant-api03-", LETTERS)),
    "github": ("clone with {}", secret("gh", "p_", LETTERS[:36])),
    "github-oauth": ("{}", secret("gh", "o_", LETTERS[:36])),
    "github-server": ("{}", secret("gh", "s_", LETTERS[:36])),
    "github-fine": ("{}", secret("github", "_pat_", LETTERS, LETTERS[:20])),
    "gitlab": ("{}", secret("gl", "pat-", LETTERS[:20])),
    "slack-bot": ("{}", secret("xo", "xb-123456789012-", LETTERS[:24])),
    "slack-user": ("{}", secret("xo", "xp-123456789012-", LETTERS[:24])),
    "slack-app": ("{}", secret("xa", "pp-1-A012345-6789-", LETTERS[:24])),
    "slack-hook": ("POST https://hooks.slack.com/services/{}", secret("T00000000/", "B00000000/", LETTERS[:24])),
    "nvidia": ("{}", secret("nv", "api-", LETTERS, LETTERS[:20])),
    "google": ("{}", secret("AI", "za", "Sy", LETTERS[:33])),
    "google-oauth": ("{}", secret("ya", "29.", LETTERS)),
    "aws-id": ("{}", secret("AK", "IA", "IOSFODNN7EXAMPLE")),
    "aws-temporary": ("{}", secret("AS", "IA", "IOSFODNN7EXAMPLE")),
    "aws-secret": ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "aws-secret-env": ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "aws-session": ("AWS_SESSION_TOKEN={}", "FwoGZXIvYXdzE" + LETTERS),
    "aws-url": ("GET https://b.s3.amazonaws.com/k?X-Amz-Signature={}", HEX),
    "azure-key": ("AccountName=a;AccountKey={};EndpointSuffix=x", LETTERS + LETTERS + "=="),
    "azure-sas": ("https://a.blob.core.windows.net/c/b?sv=2022&sig={}", LETTERS + "%3D"),
    "gcs-url": ("https://storage.googleapis.com/b/o?X-Goog-Signature={}", HEX),
    "jwt": ("cookie {}", secret("eyJ", "hbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P")),
    "bearer": ("Authorization: Bearer {}", LETTERS[:30]),
    "bearer-json": ("{{\"Authorization\": \"Bearer {}\"}}", LETTERS[:30]),
    "bearer-curl": ("curl -H 'Authorization: Bearer {}' http://x", LETTERS[:30]),
    "basic": ("Authorization: Basic {}", "dXNlcjpwYXNzd29yZDEyMw=="),
    "x-api-key": ("x-api-key: {}", LETTERS[:30]),
    "api-key-option": ("python -m vllm --api-key {} --port 1", "correcthorse7"),
    "api-key-equals": ("vllm serve m --api-key={} --port 1", "correcthorse7"),
    "api-key-args": ("ServerArgs(model_path='m', api_key='{}', port=1)", "correcthorse7"),
    "admin-api-key": ("ServerArgs(admin_api_key='{}', port=1)", "correcthorse7"),
    "api-key-list": ("Namespace(api_key=['{}'], port=1)", "correcthorse7"),
    "api-key-json": ("{{\"api_key\": \"{}\"}}", "correcthorse7"),
    "api-key-env": ("OPENAI_API_KEY={}", "correcthorse7"),
    "hf-token-env": ("HF_TOKEN={}", "notashapeweknow1"),
    "hf-hub-env": ("HUGGING_FACE_HUB_TOKEN={}", "notashapeweknow1"),
    "hf-token-arg": ("EngineArgs(hf_token='{}')", "notashapeweknow1"),
    "wandb": ("WANDB_API_KEY={}", HEX[:40]),
    "password-url": ("redis://user:{}@cache.example:6379/0", "pa55w0rd!"),
    "password-pg": ("postgresql://u:{}@db.example/x", "pa55w0rd"),
    "password-proxy": ("HTTPS_PROXY=http://u:{}@proxy.example:3128", "pa55w0rd"),
    "password-git": ("git+https://oauth2:{}@git.example/x.git", "pa55w0rd99"),
    "password-pip": ("--extra-index-url https://u:{}@pypi.example/simple", "pa55w0rd99"),
    "password-equals": ("password={}", "pa55w0rd"),
    "password-colon": ("password: {}", "pa55w0rd"),
    "password-quoted": ("password='{}'", "pa55 w0rd"),
    "pgpassword": ("PGPASSWORD={} psql", "pa55w0rd"),
    "mysql": ("MYSQL_ROOT_PASSWORD={}", "pa55w0rd"),
    "passphrase": ("ssl_keyfile_passphrase={}", "pa55w0rd"),
    "ssl-password": ("--ssl-keyfile-password {}", "pa55w0rd"),
    "client-secret": ("client_secret={}", LETTERS[:30]),
    "docker-auth": ("{{\"auths\": {{\"x.example\": {{\"auth\": \"{}\"}}}}}}", "dXNlcjpwYXNzd29yZDEyMw=="),
    "dump": ("\nserver_args=ServerArgs(model_path='m', api_key='{}', port=1)\nRuntimeError: x", "correcthorse7"),
    "dump-json": ("\nnon-default args: {{'api_key': '{}', 'model': 'm'}}\nRuntimeError: x", "correcthorse7"),
    "digit-free": ("HF_TOKEN={}", "averylongsecretthathasnodigitsinitatallreally"),
    "netrc": ("machine x.example login u password {}", "pa55w0rd"),
    "ngc": ("NGC_API_KEY={}", LETTERS + LETTERS),
    "private-key": ("-----BEGIN RSA PRIVATE KEY----- {} -----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA" + LETTERS),
    "stripe": ("{}", secret("sk", "_live_", LETTERS[:24])),
    "sendgrid": ("{}", secret("SG", ".", LETTERS[:22], ".", LETTERS)),
    "npm": ("{}", secret("np", "m_", LETTERS[:36])),
    "pypi": ("{}", secret("py", "pi-AgEIcHlwaS5vcmc", LETTERS)),
    "gitlab-runner": ("{}", secret("gl", "rt-", LETTERS[:20])),
    "digitalocean": ("{}", secret("do", "p_v1_", HEX)),
    "replicate": ("{}", secret("r8", "_", LETTERS[:37])),
    "groq": ("{}", secret("gs", "k_", LETTERS, LETTERS[:10])),
    "cookie": ("Set-Cookie: session={}", LETTERS[:30]),
}


def fault(what):
    FAULTS.append(what)
    print("FAIL:", what)


def run(home, *args, text=None):
    env = {"HOME": home, "PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8", "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.run([PROGRAM, *args], input=text or b"", capture_output=True, timeout=60, env=env, check=False)
    if done.returncode not in range(5):
        fault(f"{args}: status {done.returncode}")
    return done


def log(line):
    """A failure that no rule knows, so that the line itself is the evidence."""
    return (f"INFO 03-07 10:00:00 [api_server.py:1] vLLM API server version 0.11.0\nTraceback (most recent call last):\n"
            f"  File \"/app/x.py\", line 1, in <module>\n    main()\nRuntimeError: marker-one {line} marker-two\n").encode()


def check_clean(what, data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        fault(f"{what}: no UTF-8")
        return
    for c in text:
        if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
            fault(f"{what}: U+{ord(c):04X} raw")
            return


class Page(html.parser.HTMLParser):
    """Elements and attributes that a page of ours may have."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "img", "iframe", "object", "embed", "link", "base", "form"):
            fault(f"{self.what}: <{tag}>")
        for name, value in attrs:
            if name.startswith("on") or (name in ("href", "src") and not (value or "").startswith(("#", "https://"))):
                fault(f"{self.what}: {name}={value}")


def outputs(home, path, *options):
    """Each form of the report on a log, then what history shows of it."""
    for form in FORMATS:
        done = run(home, "--no-device", "--color", "never", "--verbose", "--format", form, *options, path)
        if done.returncode in (0, 1, 3):
            yield form, done.stdout, True
        yield form + " messages", done.stderr, False
    for command in (["--last"], ["--last", "--format", "html"], ["history"], ["history", "--format", "json"], ["history", "--export", "-"],
                    ["matrix"], ["explain"], ["next"], ["diff"]):
        done = run(home, *command)
        yield " ".join(command), done.stdout, command[0] == "--last"
        yield " ".join(command) + " messages", done.stderr, False


def check_hostile(home, name, text):
    path = os.path.join(home, "x.log")
    with open(path, "wb") as f:
        f.write(log(text))
    for form, data, whole in outputs(home, path):
        check_clean(f"{name} in a log, {form}", data)
        if form == "html":
            Page(f"{name} in a log, {form}").feed(data.decode())
        if whole and b"marker" not in data and "\r" not in text:
            fault(f"{name} in a log, {form}: the evidence is not there")
    named = os.path.join(home, text.replace("/", "_").replace("\0", "") + ".log")
    with open(named, "wb") as f:
        f.write(b"server_args=ServerArgs(model_path=" + repr("m" + text).encode() + b", port=1)\n" + log("x"))
    for form, data, _ in outputs(home, named, "--command", "serve " + text.replace("\0", "")):
        check_clean(f"{name} in a file's name, {form}", data)
        if form == "html":
            Page(f"{name} in a file's name, {form}").feed(data.decode())
    note = run(home, "outcome", "fails", "--note", "note " + text.replace("\0", ""))
    check_clean(f"{name} in a note", note.stdout + note.stderr)
    for command in (["history"], ["history", "--format", "json"], ["history", "--format", "jsonl"], ["matrix"], ["explain"]):
        done = run(home, *command)
        check_clean(f"{name} in a note, {command}", done.stdout + done.stderr)
    for command in (["explain"], ["catalog"], ["--show"], ["--launch"], ["history", "--since"], ["--device"], ["--generate"]):
        done = run(home, *command, text.replace("\0", ""))
        check_clean(f"{name} as an argument of {command}", done.stdout + done.stderr)


def check_markdown(home):
    """A cell stays a cell, and code stays code."""
    path = os.path.join(home, "x.log")
    for name, text in MARKUP.items():
        with open(path, "wb") as f:
            f.write(log(text.replace("\n", " ")))
        data = run(home, "--no-device", "--no-record", "--format", "markdown", path).stdout.decode()
        outside = re.sub(r"(?ms)^(`{3,})[^\n]*\n.*?^\1`*$", "", data)
        outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", outside)
        if re.search(r"(?<!\\)<(script|img|details )|(?<!\\)\]\(javascript", outside):
            fault(f"{name}: raw in Markdown: {outside}")


def check_secret(name, text, value):
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "x.log")
        line = text.format(value)
        with open(path, "wb") as f:
            f.write(log(line) + log(line + " again"))
        masks = set()
        for form, data, _ in outputs(home, path, "--command", "serve " + line):
            if value.encode() in data:
                fault(f"{name}: {form} shows it")
            masks.update(re.findall(rb"secret:[0-9a-f]{4}", data))
        run(home, "outcome", "fails", "--note", line)
        for folder, _, files in os.walk(os.path.join(home, ".local")):
            for file in files:
                with open(os.path.join(folder, file), "rb") as f:
                    if value.encode() in f.read():
                        fault(f"{name}: {file} holds it")
        db = sqlite3.connect(os.path.join(home, ".local/state/diagnose/history.db"))
        if db.execute("SELECT count(*) FROM diagnoses").fetchone()[0] < 1:
            fault(f"{name}: nothing was recorded")
        db.close()
        if not masks:
            fault(f"{name}: no mask")
        if len(masks) > 1:
            fault(f"{name}: {len(masks)} masks of one secret")


def main():
    with tempfile.TemporaryDirectory() as home:
        for name, text in {**HOSTILE, **{k: v.replace("\n", " ") for k, v in MARKUP.items()}}.items():
            check_hostile(home, name, text)
        check_markdown(home)
    for name, (text, value) in SECRETS.items():
        check_secret(name, text, value)
    print(f"{len(HOSTILE) + len(MARKUP)} hostile texts, {len(SECRETS)} secrets, {len(FAULTS)} faults")
    return 1 if FAULTS else 0


sys.exit(main())
