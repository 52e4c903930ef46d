#!/bin/bash
# What valgrind wrote about the tests before this one: memcheck.sh FOLDER.
set -eu
cd "$1"
ls ./*.log >/dev/null # nothing ran under valgrind at all
faults=$(find . -name '*.log' -size +0)
# shellcheck disable=SC2086
[ -z "$faults" ] || head -n 40 $faults
find . -name '*.log' -delete
[ -z "$faults" ]
