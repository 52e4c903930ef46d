/* Runs a fuzz target over files and folders, without libFuzzer. */
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static unsigned replayed;

static void replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st)) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1); /* the exact size, so that one byte more is seen */
    if (!data || fread(data, 1, size, f) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(f);
    replayed++;
}

static void replay(const char *path) {
    DIR *d = opendir(path);
    if (!d) {
        replay_file(path);
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char below[4096];
        if (*e->d_name == '.') continue;
        snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        replay(below);
    }
    closedir(d);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) replay(argv[i]);
    printf("%u inputs\n", replayed);
    return replayed ? 0 : 1;
}
