#!/bin/sh
# run.sh [MIB [ROUNDS]]: how fast the program in DIAGNOSE (default: diagnose of the build tree) is beside rg, wc and cat on this machine.
# Ratios are of medians over interleaved rounds, after one round to warm the page cache. Prints one line for each figure and its bar.
set -eu
mib=${1:-512} rounds=${2:-5}
diagnose=${DIAGNOSE:-build/diagnose}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
export HOME="$dir" XDG_STATE_HOME="$dir" XDG_CONFIG_HOME="$dir" XDG_CACHE_HOME="$dir" LC_ALL=C TZ=UTC
options="--no-device --no-record --quiet"

${CC:-cc} -O2 -o "$dir/gen" "$here/gen.c"
for log in healthy english hostile; do "$dir/gen" $log "$mib" >"$dir/$log.log"; done
head -c 102400 "$dir/healthy.log" >"$dir/small.log"
cat "$here"/small.tail >>"$dir/small.log"

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

now() { date +%s%N; }
# measure NAME COMMAND: append the microseconds of one run to $dir/t.NAME
measure() {
    start=$(now)
    sh -c "$2" >/dev/null 2>&1 || :
    echo $((($(now) - start) / 1000)) >>"$dir/t.$1"
}
median() { sort -n "$dir/t.$1" | sed -n "$(((rounds + 1) / 2))p"; }
# rounds_of NAME COMMAND NAME COMMAND …: interleaved
rounds_of() {
    rm -f "$dir"/t.*
    for round in $(seq 0 "$rounds"); do
        [ "$round" != 1 ] || rm -f "$dir"/t.*
        for pair in "$@"; do measure "${pair%%=*}" "${pair#*=}"; done
    done
}
say() { printf '%-46s %12s   %s\n' "$1" "$2" "$3"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
rate() { awk -v us="$1" -v mib="$mib" 'BEGIN { printf "%.0f MB/s", mib * 1.048576 / us * 1e6 }'; }

say "what ($mib MiB, median of $rounds)" measured bar
say "patterns: all / that rg takes" "$(wc -l <"$dir/all") / $(wc -l <"$dir/patterns")" ""
for log in healthy english; do
    f=$dir/$log.log
    rounds_of "d=$diagnose $options $f" "rg=rg -c -f $dir/patterns $f" "wc=wc -l $f"
    say "$log: diagnose" "$(rate "$(median d)")" ""
    say "$log: x rg -c -f" "$(ratio "$(median rg)" "$(median d)")" ">= 4, goal 6"
    say "$log: x wc -l" "$(ratio "$(median wc)" "$(median d)")" ">= 0.25, goal 0.4"
done
rounds_of "d=$diagnose $options $dir/hostile.log"
say "hostile, each line matches" "$(rate "$(median d)")" ">= 100 MB/s"
rounds_of "d=$diagnose $options $dir/small.log" "rg=rg -c -f $dir/patterns $dir/small.log"
say "100 KB, start to report" "$(awk -v us="$(median d)" 'BEGIN { printf "%.1f ms", us / 1000 }')" "8 ms on an idle machine"
say "100 KB: rg, shipped patterns, by diagnose" "$(ratio "$(median rg)" "$(median d)")" ""
f=$dir/healthy.log
rounds_of "pipe=cat $f | $diagnose $options -" "wc=cat $f | wc -l" "redirect=$diagnose $options - <$f" "file=$diagnose $options $f"
say "pipe: x cat F | wc -l" "$(ratio "$(median wc)" "$(median pipe)")" ">= 0.9"
say "redirected: x file" "$(ratio "$(median file)" "$(median redirect)")" "1"
gzip -1 -k "$f"
zstd -q -k "$f" 2>/dev/null || :
rounds_of "gz=$diagnose $options $f.gz" "pigz=pigz -dc $f.gz" "zst=$diagnose $options $f.zst" "zstdcat=zstdcat $f.zst"
say ".gz: time by pigz -dc" "$(ratio "$(median gz)" "$(median pigz)")" "<= 1.15"
[ ! -f "$f.zst" ] || say ".zst: time by zstdcat" "$(ratio "$(median zst)" "$(median zstdcat)")" "<= 1.25"
if [ -x /usr/bin/time ]; then
    kib=$(/usr/bin/time -f %M sh -c "$diagnose $options $f" 2>&1 >/dev/null | tail -n 1)
    say "memory" "$(ratio "$kib" 1024) MiB" "<= 64 MiB"
fi
