#!/bin/bash
# Every log of a healthy server or host is called healthy, and no rule's literal is common in them.
. "$(dirname "$0")/../cli/lib.sh"

healthy() { # FOLDER: as a user would give what lies in it
    local file device kernel=() logs=()
    device=$(sed -n 's/.*"sm": "\([0-9.]*\)".*/--device=cc=\1/p' "$1/case.json")
    for file in "$1"/*; do
        case ${file##*/} in
            case.json) ;;
            dmesg.txt | kernel.log | kern.log | journal-k.txt | kmsg.txt) kernel+=("$file") ;;
            *) logs+=("$file") ;;
        esac
    done
    if [ ${#logs[@]} = 0 ]; then
        logs=("${kernel[@]}")
    else
        for file in "${kernel[@]}"; do logs+=("--kernel-log=$file"); done
    fi
    run --format json --no-record "${device:---no-device}" "${logs[@]}"
    want_status 0 "${1##*/}"
    want_out '"status": "healthy"'
}

n=0
for label in "$cases"/*/case.json; do
    if grep -q '"class": "none"' "$label"; then
        healthy "$(dirname "$label")"
        n=$((n + 1))
    fi
done
[ "$n" -ge 65 ] || fail "only $n healthy cases"

if python3 -c 'import yaml' 2>/dev/null; then
    python3 "$SOURCE_DIR/tests/rules/literals.py" "$SOURCE_DIR" || fail "literals are too common"
else
    echo "python3 with PyYAML is not here: literals not counted"
fi
finish
