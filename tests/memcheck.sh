#!/bin/bash
# Tests under valgrind: memcheck.sh run COMMAND... runs one; memcheck.sh judge FOLDER reads what valgrind wrote about all of them.
set -eu
what=$1
shift
if [ "$what" = run ]; then
    status=0
    "$@" || status=$?
    echo "status $status"
    exit 0
fi
cd "$1"
ls ./*.log >/dev/null # else nothing ran
# Valgrind says of a terminal's calls that it does not know them: that is no fault.
unknown='unhandled ioctl|could cause spurious value errors|README_MISSING_SYSCALL'
faults=$(find . -name '*.log' -exec grep -lvE "$unknown" {} +) || : # none of them
for file in $faults; do head -n 40 "$file"; done
find . -name '*.log' -delete
[ -z "$faults" ]
