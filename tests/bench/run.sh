#!/bin/bash
# run.sh [MIB [ROUNDS]]: how fast the program in DIAGNOSE (default: diagnose of the build tree) is beside rg, grep, wc, cat, pigz, zstd
# and lnav (as far as they are here) on this machine. Ratios are of medians over interleaved rounds, after one round to warm the page
# cache. Prints one line for each figure, its bar, and whether it holds. For the 100 KB log rg gets patterns.txt, as many as a person
# would type.
set -eu
mib=${1:-512} rounds=${2:-5}
diagnose=$(realpath "${DIAGNOSE:-build/diagnose}")
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
export HOME="$dir" XDG_STATE_HOME="$dir" XDG_CONFIG_HOME="$dir" XDG_CACHE_HOME="$dir" LC_ALL=C TZ=UTC
d="$diagnose --no-device --no-record --quiet"

has() { command -v "$1" >/dev/null; }
now() { date +%s%N; }
# measure NAME COMMAND: append the microseconds of one run to $dir/t.NAME
measure() {
    local start
    start=$(now)
    bash -c "$2" >/dev/null 2>&1 || :
    echo $((($(now) - start) / 1000)) >>"$dir/t.$1"
}
median() { sort -n "$dir/t.$1" | sed -n "$((($(wc -l <"$dir/t.$1") + 1) / 2))p"; }
# rounds_of NAME=COMMAND…: interleaved, there and back again, as what ran before leaves its mark
rounds_of() {
    local round pair forth=("$@") back=()
    for pair in "$@"; do back=("$pair" "${back[@]}"); done
    rm -f "$dir"/t.*
    for round in $(seq 0 "$rounds"); do
        [ "$round" != 1 ] || rm -f "$dir"/t.*
        if [ $((round % 2)) = 0 ]; then set -- "${forth[@]}"; else set -- "${back[@]}"; fi
        for pair in "$@"; do measure "${pair%%=*}" "${pair#*=}"; done
    done
}
kib() { /usr/bin/time -f %M bash -c "exec $1" 2>&1 >/dev/null | tail -n 1; }

misses=0
say() { printf '%-58s %12s   %-10s %s\n' "$@"; }
tell() { say "$1" "$2" "" ""; }
# row WHAT NUMBER UNIT >=|<= BAR
row() {
    local verdict=holds
    awk -v a="$2" -v op="$4" -v b="$5" 'BEGIN { exit !(op == "<=" ? a <= b : a >= b) }' || verdict=MISSED
    [ $verdict = holds ] || misses=$((misses + 1))
    say "$1" "$2$3" "$4 $5" $verdict
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
ms() { awk -v us="$(median "$1")" 'BEGIN { printf "%.1f ms", us / 1000 }'; }
mbs() { awk -v us="$(median "$1")" -v mib="$mib" 'BEGIN { printf "%.0f", mib * 1.048576 / us * 1e6 }'; }

# ---- what is read, and what others get to seek
${CC:-cc} -O2 -o "$dir/gen" "$here/gen.c"
for log in healthy english hostile; do "$dir/gen" $log "$mib" >"$dir/$log.log"; done
head -c 102400 "$dir/healthy.log" >"$dir/small.log"
cat "$here"/small.tail >>"$dir/small.log"
for n in 400 1600; do "$dir/gen" rules $n >"$dir/rules.$n.yaml"; done
healthy=$dir/healthy.log small=$dir/small.log

# Patterns that rg takes: those of a slice it refuses are tried one by one.
"$diagnose" rules export --patterns >"$dir/all"
takes() { echo | rg -c -f "$1" >/dev/null 2>&1 || [ $? -eq 1 ]; }
split -l 64 "$dir/all" "$dir/slice."
for slice in "$dir"/slice.*; do
    if takes "$slice"; then
        cat "$slice"
    else
        while IFS= read -r line; do
            printf '%s\n' "$line" >"$dir/one"
            if takes "$dir/one"; then cat "$dir/one"; fi
        done <"$slice"
    fi
done >"$dir/patterns"
grep -v '[][\\.(){}*+?^$|]' "$dir/patterns" >"$dir/plain" || :
few=$here/patterns.txt

say "what ($mib MiB, medians of $rounds)" measured bar ""
tell "patterns: all / that rg takes / that are plain text" "$(wc -l <"$dir/all") / $(wc -l <"$dir/patterns") / $(wc -l <"$dir/plain")"

# ---- bulk
for log in healthy english; do
    f=$dir/$log.log
    rounds_of "d=$d $f" "rg=rg -c -f $dir/patterns $f" "wc=wc -l $f"
    tell "$log: diagnose" "$(mbs d) MB/s"
    row "$log: x rg -c -f (goal 6)" "$(ratio "$(median rg)" "$(median d)")" "" ">=" 4
    row "$log: x wc -l (goal 0.4)" "$(ratio "$(median wc)" "$(median d)")" "" ">=" 0.25
done
rounds_of "d=$d $dir/hostile.log"
row "hostile, each line matches" "$(mbs d)" " MB/s" ">=" 100
rounds_of "few=$d --rules-only $dir/rules.400.yaml $healthy" "many=$d --rules-only $dir/rules.1600.yaml $healthy"
row "1,600 literals: time by 400" "$(ratio "$(median many)" "$(median few)")" "" "<=" 1.6
head -c 16777216 "$healthy" >"$dir/part.log"
rounds_of "d=$d $dir/part.log" "grep=grep -c -F -f $dir/plain $dir/part.log"
tell "16 MiB: x grep -c -F -f, plain patterns" "$(ratio "$(median grep)" "$(median d)")"
if has lnav; then
    rounds_of "d=$d $dir/part.log" "lnav=lnav -n -c ':filter-in CUDA out of memory' $dir/part.log"
    tell "16 MiB: x lnav with one filter" "$(ratio "$(median lnav)" "$(median d)")"
fi

# ---- a small log, from start to report
rounds_of "d=$d $small" "all=$diagnose $small" "user=$d --rules $dir/rules.400.yaml $small" "rg=rg -c -f $few $small"
tell "100 KB: rg -c -f, $(wc -l <"$few") patterns" "$(ms rg)"
tell "100 KB: diagnose / with device and history" "$(ms d) / $(ms all)"
row "100 KB: time by rg" "$(ratio "$(median d)" "$(median rg)")" "" "<=" 1
row "100 KB, with device and history: time by rg" "$(ratio "$(median all)" "$(median rg)")" "" "<=" 1
row "100 KB, with a user's pack of 400 rules: time by rg" "$(ratio "$(median user)" "$(median rg)")" "" "<=" 5

# ---- ways in
rounds_of "pipe=cat $healthy | $d -" "wc=cat $healthy | wc -l"
row "pipe: x cat F | wc -l" "$(ratio "$(median wc)" "$(median pipe)")" "" ">=" 0.9
# Many rounds, as no more than noise should be between them. exec: bash runs a plain command in its own place, but one
# that is redirected in a process more.
rounds=$((12 * rounds)) rounds_of "redirect=exec $d - <$healthy" "file=exec $d $healthy"
row "redirected: time by file" "$(ratio "$(median redirect)" "$(median file)")" "" "<=" 1.05
if has pigz; then
    gzip -1 -k "$healthy"
    rounds_of "gz=$d $healthy.gz" "pigz=pigz -dc $healthy.gz"
    row ".gz: time by pigz -dc" "$(ratio "$(median gz)" "$(median pigz)")" "" "<=" 1.15
fi
if has zstd; then
    zstd -q -k "$healthy"
    rounds_of "zst=$d $healthy.zst" "zstdcat=zstdcat $healthy.zst"
    row ".zst: time by zstdcat" "$(ratio "$(median zst)" "$(median zstdcat)")" "" "<=" 1.25
    zstd -q --ultra --long=28 -o "$dir/window.zst" <"$healthy"
    refused=0
    $d "$dir/window.zst" 2>&1 | grep -q 'window above 128 MiB' && refused=1
    [ "$mib" -le 128 ] || row ".zst with a window of 256 MiB is refused" "$refused" "" ">=" 1
fi

# ---- memory
if [ -x /usr/bin/time ]; then
    for f in small.log healthy.log hostile.log healthy.log.gz healthy.log.zst; do
        [ ! -f "$dir/$f" ] || row "memory: $f" "$(ratio "$(kib "$d $dir/$f")" 1024)" " MiB" "<=" 64
    done
fi
[ "$misses" = 0 ] || echo "$misses figures are missed"
