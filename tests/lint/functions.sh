#!/bin/sh
# No function is longer than 80 lines.
set -eu
cd "$SOURCE_DIR"
find src tests tools -name '*.c' -exec awk '
    FNR == 1 { start = 0 }
    /^[a-zA-Z_].*\) \{$/ || /^ .*\) \{$/ && !start { if (!start) { start = FNR; head = $0 } }
    /^\}/ {
        if (start && FNR - start + 1 > 80) { print FILENAME ":" start ": " FNR - start + 1 " lines: " head; bad = 1 }
        start = 0
    }
    END { exit bad }' {} +
