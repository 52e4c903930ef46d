/* The program as one file, for containers that hold nothing: the rules are inside, and all libraries but libc, libm and
 * the loader are linked into it (tools/cmake/onefile.cmake). */
#include "cli/app.h"
#include "base/mem.h"
#include "ingest/libarchive.h"

/* libarchive opens encrypted zip members by nettle, which is LGPL. Without a passphrase, and none is ever given, it
 * says that it has none, and never comes here. */
#define NEVER(name)                                                                                                    \
    _Noreturn void name(void);                                                                                         \
    _Noreturn void name(void) { __builtin_trap(); }
NEVER(nettle_aes128_encrypt)
NEVER(nettle_aes128_set_encrypt_key)
NEVER(nettle_aes192_encrypt)
NEVER(nettle_aes192_set_encrypt_key)
NEVER(nettle_aes256_encrypt)
NEVER(nettle_aes256_set_encrypt_key)
NEVER(nettle_hmac_sha1_digest)
NEVER(nettle_hmac_sha1_set_key)
NEVER(nettle_hmac_sha1_update)
NEVER(nettle_pbkdf2_hmac_sha1)

/* onefile.def is made by the build: the path of packs.bin. */
extern const char embedded_packs[], embedded_packs_end[];
__asm__(".section .rodata\n.balign 16\n.globl embedded_packs, embedded_packs_end\nembedded_packs:\n.incbin \""
#include "onefile.def"
        "\"\nembedded_packs_end:\n.byte 0\n.previous\n");

int main(int argc, char **argv) {
    const struct dg_slice packs = {embedded_packs, (size_t)((uintptr_t)embedded_packs_end - (uintptr_t)embedded_packs)};
    static const struct dg_libarchive linked = {
#define FN(name) .name = name,
        DG_LIBARCHIVE(FN)};
    dg_libarchive_linked = &linked;
    return dg_cli_main(argc, argv, &packs);
}
