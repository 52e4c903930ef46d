/* The program as one file, for containers that hold nothing: the rules are inside, and all libraries but libc, libm and
 * the loader are linked into it (tools/cmake/onefile.cmake). */
#include "cli/app.h"
#include "base/mem.h"

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

/* The bytes of a file, from `name` to `name`_end. */
#define EMBED(name, path)                                                                                              \
    extern const char name[], name##_end[];                                                                            \
    __asm__(".section .rodata\n.balign 16\n.globl " #name ", " #name "_end\n" #name ":\n.incbin \"" path "\"\n" #name  \
            "_end:\n.byte 0\n.previous\n");
#define BYTES(name)                                                                                                    \
    { name, (size_t)((uintptr_t)name##_end - (uintptr_t)name) }

/* onefile.def is made by the build: PACKS(PATH), then ENGINE(NUMBER, NAME, PATH) for each file of the catalog. */
#define PACKS(path) EMBED(embedded_packs, path)
#define ENGINE(number, name, path) EMBED(embedded_engine_##number, path)
#include "onefile.def"
#undef PACKS
#undef ENGINE

int main(int argc, char **argv) {
    const struct dg_built_in_file engines[] = {
#define PACKS(path)
#define ENGINE(number, name, path) {name, BYTES(embedded_engine_##number)},
#include "onefile.def"
    };
    const struct dg_built_in built_in = {
        .packs = BYTES(embedded_packs), .engines = engines, .n_engines = DG_COUNT(engines)};
    return dg_cli_main(argc, argv, &built_in);
}
