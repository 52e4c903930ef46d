#include "ingest/libarchive.h"
#include "base/mem.h"
#include <dlfcn.h>

#define LIBRARY "libarchive.so.13"

const struct dg_libarchive *dg_libarchive_linked;

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define FN(name) {#name, offsetof(struct dg_libarchive, name)},
    DG_LIBARCHIVE(FN)
#undef FN
};

static bool find_all(void *library, struct dg_libarchive *ret) {
    for (size_t i = 0; i < DG_COUNT(functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found) return false;
        memcpy((char *)ret + functions[i].at, &found, sizeof(found)); /* a function pointer: C has no cast for it */
    }
    return true;
}

int dg_libarchive_load(const struct dg_libarchive **ret, struct dg_err *err) {
    static struct dg_libarchive loaded;
    if (!dg_libarchive_linked) {
        void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library || !find_all(library, &loaded))
            return dg_err_set(err, DG_E_UNSUPPORTED, 0, "a bundle, for which " LIBRARY " is wanted: unpack it first");
        dg_libarchive_linked = &loaded;
    }
    *ret = dg_libarchive_linked;
    return 0;
}
