#!/bin/bash
# Markdown and HTML of every labelled log: valid HTML (each tag closed in order, no id twice), no raw control byte, under 60 lines of Markdown.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "python3 is not here: not checked"
    exit 77
fi
cat >check.py <<'PY'
import html.parser, pathlib, re, sys

VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.faults, self.seen = [], set(), [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        for name, value in attrs:
            if name == "id":
                if value in self.ids:
                    self.faults.append("id %s twice" % value)
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append("</%s> closes nothing" % tag)


def check(text, kind):
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
        yield "a raw control byte"
    if kind == "html":
        page = Page()
        page.feed(text)
        yield from page.faults + ["<%s> is open" % t for t in page.open]
        yield from ("no <%s>" % t for t in ("html", "title", "main", "h1") if t not in page.seen)
    elif len(text.splitlines()) >= 60:
        yield "%d lines" % len(text.splitlines())


bad = 0
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for fault in list(check(path.read_bytes().decode("utf-8"), path.suffix[1:]))[:3]:
        print("%s: %s" % (path.name, fault))
        bad = 1
sys.exit(bad)
PY
mkdir pages
for c in "$cases"/*/; do
    files=()
    for f in "$c"*; do
        [ "${f##*/}" = case.json ] || files+=("$f")
    done
    [ -z "$(find "$c" -size +200k)" ] || continue # long ones add time, not other text
    name=$(basename "$c")
    for kind in html markdown; do
        "$DIAGNOSE" --no-record --no-device --format "$kind" "${files[@]}" >"pages/$name.$kind" 2>/dev/null </dev/null || [ $? -le 3 ] || fail "$kind of $name"
    done
done
[ "$(find pages -size +0 | wc -l)" -gt 100 ] || fail "hardly a page was made"
python3 check.py pages || fail "pages with faults"
finish
