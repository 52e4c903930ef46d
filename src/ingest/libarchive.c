#include "ingest/libarchive.h"
#include "base/mem.h"
#include <dlfcn.h>

#define LIBRARY "libarchive.so.13"

const struct dg_libarchive *dg_libarchive_linked;

static bool find(void *library, const char *name, void *ret_function) {
    void *found = dlsym(library, name);
    memcpy(ret_function, &found, sizeof(found)); /* a function pointer: C has no cast for it */
    return found;
}

int dg_libarchive_load(const struct dg_libarchive **ret, struct dg_err *err) {
    static struct dg_libarchive loaded;
    if (!dg_libarchive_linked) {
        void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        bool whole = library;
#define FN(name) whole = whole && find(library, #name, &loaded.name);
        DG_LIBARCHIVE(FN)
#undef FN
        if (!whole)
            return dg_err_set(err, DG_E_UNSUPPORTED, 0, "a bundle, for which " LIBRARY " is wanted: unpack it first");
        dg_libarchive_linked = &loaded;
    }
    *ret = dg_libarchive_linked;
    return 0;
}
