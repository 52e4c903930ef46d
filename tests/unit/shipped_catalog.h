/* The catalog that is shipped, for the tests of one program: set-up and tear-down of their group. */
#ifndef DG_TESTS_SHIPPED_CATALOG_H
#define DG_TESTS_SHIPPED_CATALOG_H

#include "unit.h"
#include "catalog/catalog.h"

static struct dg_catalog *catalog;

static int load(void **state) {
    (void)state;
    char path[4096];
    snprintf(path, sizeof(path), "%s/rules/engines", getenv("SOURCE_DIR"));
    const char *paths[] = {path};
    catalog = dg_catalog_load(paths, 1, NULL);
    return catalog ? 0 : 1;
}

static int drop(void **state) {
    (void)state;
    dg_catalog_free(catalog);
    return 0;
}

#endif
