/* A folder under /tmp for the files of a test or of a group of tests. */
#ifndef DG_TESTS_FOLDER_FIXTURE_H
#define DG_TESTS_FOLDER_FIXTURE_H

#include "unit.h"
#include <stdio.h>
#include <unistd.h>

static char folder[32];

static inline int folder_make(void **state) {
    (void)state;
    strcpy(folder, "/tmp/dg-unit-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_remove(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

/* The path of `name` in it, until the next call. */
static inline const char *folder_at(const char *name) {
    static char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

#endif
