#!/bin/bash
# What tools/package makes: the tarball and the Debian package hold what they should, and what is in them works where it is put.
. "$(dirname "$0")/../cli/lib.sh"
if [ ! -x "$BUILD_DIR/onefile/diagnose" ]; then
    echo "onefile/diagnose was not built here: nothing is packed"
    exit 77
fi
"$SOURCE_DIR/tools/package" "$work/dist" "$BUILD_DIR" >log 2>&1 || fail "tools/package: $(tail -n 3 log)"
S=$cases/story-a/server.log

holds() { # FOLDER
    local path
    for path in bin/diagnose share/diagnose/packs.bin share/diagnose/rules/classes.yaml share/diagnose/rules/engines/sglang.yaml \
        share/bash-completion/completions/diagnose share/zsh/site-functions/_diagnose share/fish/vendor_completions.d/diagnose.fish; do
        [ -s "$1/$path" ] || fail "$path is not in it"
    done
    [ -z "$(find "$1" -perm /022 ! -type l)" ] || fail "others may write into it"
}
works() { # PROGRAM WHAT
    status=0
    "$1" --no-record --device 12.0 "$S" >out 2>err </dev/null || status=$?
    want_status 1 "$2"
    want_out "arch-mismatch/sm-guard"
    [ ! -s err ] || fail "$2: $(head -n 1 err)"
    "$1" rules list --format jsonl >rows
    [ "$(jq -r .file <rows | grep -c "^rules/")" -gt 100 ] || fail "$2: the rules are not told to be from rules/"
    "$1" rules test >out 2>err || fail "$2: rules test: $(tail -n 3 out err)"
}

# Nobody needs the paths of the build machine; the program itself knows its build folder, and its source's rules.
leaks() { # FILE ALLOWED
    [ "$(strings -a "$1" | grep -cF "$SOURCE_DIR/")" -le "$2" ] || fail "$1 holds paths of the build machine: $(strings -a "$1" | grep -F "$SOURCE_DIR/" | head -n 3)"
}

# ---- the tarball
tar -xzf dist/*.tar.gz
tree=$(echo diagnose-*-linux-*)
holds "$tree"
"$SOURCE_DIR/tools/check-onefile" "$tree/bin/diagnose" || fail "the tarball's program is not the one file"
works "$work/$tree/bin/diagnose" "the tarball"
leaks "$tree/bin/diagnose" 2
leaks "$tree/share/diagnose/packs.bin" 0
for library in libarchive liblzma libzstd libbz2 zlib1g libpcre2 libyaml libsqlite3 libjansson libutf8proc libxxhash uthash; do
    grep -q "^$library" "$tree/share/doc/diagnose/licences/README" || fail "the licence of $library is not told"
done
grep -i 'L\?GPL' "$tree/share/doc/diagnose/licences/README" | grep -v 'nothing of it' && fail "a licence that does not go with one file"
"$SOURCE_DIR/tools/package" "$work/again" "$BUILD_DIR" >log 2>&1 || fail "tools/package, again"
cmp dist/*.tar.gz again/*.tar.gz || fail "the tarball differs each time"

# ---- the Debian package
if command -v dpkg-deb >/dev/null; then
    dpkg-deb -x dist/*.deb root
    holds root/usr
    works "$work/root/usr/bin/diagnose" "the Debian package"
    depends=$(dpkg-deb -f dist/*.deb Depends)
    for package in libc6 libarchive13 libpcre2-8-0 libsqlite3-0 libjansson4; do
        case $depends in *"$package"*) ;; *) fail "Depends lacks $package: $depends" ;; esac
    done
    [ "$(dpkg-deb -f dist/*.deb Architecture)" = "$(dpkg --print-architecture)" ] || fail "another architecture"
    dpkg-deb -e dist/*.deb control
    (cd root && md5sum --quiet -c ../control/md5sums) || fail "md5sums do not agree"
    for page in man1/diagnose.1 man5/diagnose-rules.5; do
        gzip -dc "root/usr/share/man/$page.gz" >page || fail "$page is not there"
        ! command -v mandoc >/dev/null || ! mandoc -Tlint page | grep -v 'referenced manual not found\|mandoc.db' || fail "mandoc finds faults in $page"
    done
    # shellcheck disable=SC2016
    bash -c '. "$1" && COMP_WORDS=(diagnose hist) COMP_CWORD=1 && _diagnose 2>/dev/null; [ "${COMPREPLY[*]}" = history ]' - \
        root/usr/share/bash-completion/completions/diagnose || fail "the completions do not load"
else
    echo "dpkg-deb is not here: NOT TESTED: the Debian package"
fi
finish
