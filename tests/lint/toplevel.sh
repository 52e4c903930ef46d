#!/bin/sh
# At the top lie the folders and files that belong there, and none that a run left behind.
set -eu
cd "$SOURCE_DIR"
git rev-parse --git-dir >/dev/null 2>&1 || exit 77
strays=$(git ls-files | sed 's|/.*||' | sort -u |
    grep -vxE '\..*|CMakeLists\.txt|CMakePresets\.json|LICENSE|README\.md|fixtures|man|rules|src|tests|tools') || exit 0
echo "does not belong at the top: $strays" >&2
exit 1
