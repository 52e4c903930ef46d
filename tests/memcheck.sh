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
faults=$(find . -name '*.log' -size +0)
for file in $faults; do head -n 40 "$file"; done
find . -name '*.log' -delete
[ -z "$faults" ]
