/* ELF files of 64 bits, little-endian: just what finding GPU code takes. For src/image alone. */
#ifndef DG_IMAGE_ELF_H
#define DG_IMAGE_ELF_H

#include "arch/arch.h"
#include "image/source.h"

enum { ELF_MACHINE_CUDA = 190, ELF_RELOCATABLE = 1, ELF_PROGBITS = 1, ELF_ALLOC = 2, ELF_EXECUTABLE = 4 };

struct elf {
    struct source bytes, names;
    unsigned abi_version, type, machine;
    uint32_t flags;
    uint64_t table; /* of sections; 0: none */
    uint32_t n_sections;
};

struct elf_section {
    char name[32]; /* cut */
    uint32_t type;
    uint64_t flags, size, entry_size;
    struct source bytes;
    uint64_t at;
};

/* False: not such an ELF file. A section table that is not inside the file is taken as absent (n_sections 0). */
bool elf_open(struct source bytes, struct elf *ret);
bool elf_section(const struct elf *elf, uint32_t i, struct elf_section *ret);

struct cubin {
    struct dg_target target;
    bool relocatable;
    bool kernels; /* it defines at least one */
};
/* A CUDA ELF file, of either layout. False: not one. */
bool cubin_read(struct source bytes, struct cubin *ret);

#endif
