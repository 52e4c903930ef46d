#!/bin/sh
# Dependencies run one way: each folder of src/ may include itself and what stands after its name below. Only cli prints, exits or
# reads the environment. The programs of the build are not part of their folder.
set -eu
cd "$SOURCE_DIR/src"
faults=0

allowed() { # FOLDER
    case $1 in
        base) echo base ;;
        model | arch) echo base model "$1" ;;
        ingest | pack | match | image | device | catalog | store) echo base model arch "$1" ;;
        reason) echo base model arch ingest pack match image device catalog store reason ;;
        report) echo base model arch ingest pack match image device catalog store reason report ;;
        cli) echo base model arch ingest pack match image device catalog store reason report cli ;;
        *) echo "$1: a folder without a place in the order" >&2 ;;
    esac
}

for folder in *; do
    may=" $(allowed "$folder") "
    for file in "$folder"/*; do
        case $file in
            pack/packc.c | arch/archgen.c | cli/onefile.c) continue ;;
        esac
        [ -f "$file" ] || continue
        for other in $(sed -n 's|^#include "\([a-z0-9]*\)/.*|\1|p' "$file"); do
            case $may in
                *" $other "*) ;;
                *)
                    echo "src/$file includes $other/"
                    faults=$((faults + 1))
                    ;;
            esac
        done
        if grep -n '^#include "[^/]*"' "$file"; then
            echo "src/$file: includes name their folder"
            faults=$((faults + 1))
        fi
    done
done

only_cli='(^|[^a-zA-Z0-9_>.])(printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|putc|fputc|perror|exit|abort|getenv|secure_getenv|setenv|unsetenv)[(]|\<(stdout|stderr|environ)\>'
for file in */*.c */*.h; do
    case $file in
        cli/* | pack/packc.c | arch/archgen.c) continue ;;
    esac
    # Comments and string literals may name what code may not call.
    if sed -E -e 's#"([^"\\]|\\.)*"#""#g' -e 's#/[*].*[*]/##' -e '/^ [*] /d' -e 's#/[*].*##' "$file" | grep -nE "$only_cli"; then
        echo "src/$file: only cli prints, exits or reads the environment"
        faults=$((faults + 1))
    fi
done
[ "$faults" = 0 ]
