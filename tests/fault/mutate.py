#!/usr/bin/env python3
"""Mutated logs: whatever stands in one, the program ends in time, with one of its five statuses, and its JSON is JSON.

    mutate.py DIAGNOSE REPLAY_LOG FIXTURES [MUTATIONS_PER_FIXTURE] [SEED]

The first two of each fixture are given to the program, all of them to the fuzz target `log`, which is many in one process.
A log that breaks one of them is left in /tmp/mutate-SEED-CASE-NUMBER."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

SECONDS = 20
PROGRAM_RUNS = 2
BATCH_BYTES = 64 << 20
HOSTILE = [b"\x00", b"\xff\xfe", b"\x1b[31m", b"\x1b]8;;x\x07", b"\r", b"\r\n", b"\xc2\x9b", b"\xe2\x80\xae", b"'" * 300, b"(" * 3000,
           b"{", b"[" * 3000, b"\\n", b"\\", b"A" * 70000, b"9" * 400, b"-1", b"1e999", b"nan", b"Traceback (most recent call last):\n",
           b"server_args=ServerArgs(", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"</script>", b"%s%n", b"\x0c"]


def flip(rng, b, at):
    return b[:at] + bytes([rng.randrange(256)]) + b[at + 1:]


def insert(rng, b, at):
    return b[:at] + rng.choice(HOSTILE) + b[at:]


def cut(rng, b, at):
    return b[:at]


def cut_head(rng, b, at):
    return b[at:]


def remove(rng, b, at):
    return b[:at] + b[at + rng.randrange(1, 200):]


def repeat(rng, b, at):
    return b[:at] + b[at:at + rng.randrange(1, 400)] * rng.randrange(2, 60) + b[at:]


def lines(change):
    def mutate(rng, b, at):
        v = b.split(b"\n")
        change(rng, v)
        return b"\n".join(v)
    return mutate


def swap(rng, v):
    i, j = rng.randrange(len(v)), rng.randrange(len(v))
    v[i], v[j] = v[j], v[i]


def join(rng, v):
    i = rng.randrange(len(v))
    v[i:i + 20] = [b"".join(v[i:i + 20])]


def shuffle(rng, v):
    rng.shuffle(v)


def number(rng, b, at):
    found = re.compile(rb"[0-9]+").search(b, at)
    return b[:found.start()] + rng.choice([b"0", b"-7", b"18446744073709551616", b"1e400", b""]) + b[found.end():] if found else b


MUTATIONS = [flip, flip, insert, insert, cut, cut_head, remove, repeat, number, number, lines(swap), lines(join), lines(shuffle)]
FORMATS = ["json", "json", "json", "text", "markdown", "html", "jsonl"]


def mutated(rng, text):
    for _ in range(rng.randrange(1, 6)):
        text = rng.choice(MUTATIONS)(rng, text, rng.randrange(len(text) + 1))
    return text


def fault_of(command, form):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    if done.returncode not in range(5):
        return f"status {done.returncode}: {done.stderr[-2000:].decode(errors='replace')}"
    if done.returncode in (2, 4):
        return f"status {done.returncode} with a report" if done.stdout else None
    try:
        text = done.stdout.decode()
        if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in set(text) - {"\n", "\t"}):
            return "a control character in the report"
        if form.startswith("json"):
            json.loads(text)
    except ValueError as e:
        return f"bad text or JSON: {e}"
    return None


class Batch:
    """Logs on their way to the fuzz target."""

    def __init__(self, replay):
        self.replay, self.bytes, self.paths = replay, 0, []

    def add(self, path, size):
        self.paths.append(path)
        self.bytes += size
        return self.run() if self.bytes > BATCH_BYTES else []

    def broken(self, paths):
        """Those of `paths` that break it; halves, since it ends at the first."""
        try:
            command = [self.replay, *paths]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS * len(paths), check=False)
            if done.returncode == 0:
                return []
            fault = f"status {done.returncode}: {done.stderr[-2000:].decode(errors='replace')}"
        except subprocess.TimeoutExpired:
            fault = "no end"
        half = len(paths) // 2
        return self.broken(paths[:half]) + self.broken(paths[half:]) if half else [(paths[0], fault)]

    def run(self):
        faults = self.broken(self.paths) if self.paths else []
        for path in self.paths:
            if path not in [broken for broken, _ in faults]:
                os.remove(path)
        self.bytes, self.paths = 0, []
        return faults


def main():
    program, replay, fixtures, count, seed = sys.argv[1], sys.argv[2], sys.argv[3], int((sys.argv + ["2"])[4]), int((sys.argv + ["", "1"])[5])
    tried, faults, batch = 0, [], Batch(replay)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as home:
        os.environ.update(HOME=home, TZ="UTC", LC_ALL="C.UTF-8")
        for case in sorted(os.listdir(fixtures)):
            logs = [f for f in sorted(os.listdir(os.path.join(fixtures, case))) if f != "case.json"]
            for i in range(count):
                rng = random.Random(f"{seed} {case} {i}")
                with open(os.path.join(fixtures, case, rng.choice(logs)), "rb") as f:
                    text = mutated(rng, f.read())
                path = os.path.join(home, f"mutate-{seed}-{case}-{i}")
                with open(path, "wb") as f:
                    f.write(text)
                tried += 1
                if i < PROGRAM_RUNS:
                    form = rng.choice(FORMATS)
                    record = [] if i % PROGRAM_RUNS == 0 else ["--no-record"]
                    fault = fault_of([program, "--no-device", "--format", form, *record, path], form)
                    faults += [(path, f"{form}: {fault}")] if fault else []
                faults += batch.add(path, len(text))
        faults += batch.run()
        for path, fault in faults:
            print(f"{shutil.copy(path, '/tmp')}: {fault}")
    print(f"{tried} logs, {len(faults)} faults")
    return 1 if faults or not tried else 0


sys.exit(main())
