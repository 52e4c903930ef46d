#!/bin/sh
# Each header compiles alone, and twice.
set -eu
cd "$SOURCE_DIR/src"
# shellcheck disable=SC2046  # lists of words
cflags="-std=c17 -D_GNU_SOURCE -I. $(pkg-config --cflags libpcre2-8 libarchive jansson sqlite3)"
faults=0
for header in */*.h; do
    # shellcheck disable=SC2086
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$CC" $cflags -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c - || {
        echo "src/$header does not compile alone"
        faults=$((faults + 1))
    }
done
[ "$faults" = 0 ]
