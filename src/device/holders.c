#include "device/holders.h"
#include "base/mem.h"
#include "base/timex.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HOLDERS = 1024 };

bool dg_holder_add(struct dg_device *d, const struct dg_holder *h) {
    if (d->n_holders >= MAX_HOLDERS) return true;
    struct dg_holder *v = dg_realloc_array(d->holders, d->n_holders + 1, sizeof(*v));
    if (!v) return false;
    d->holders = v;
    d->holders[d->n_holders++] = *h;
    return true;
}

/* Words in a command line or process name that say "part of an LLM server". comm is cut at 15 bytes. */
static bool looks_like_server(const char *text) {
    static const char *const WORDS[] = {"sglang",        "vllm",         "VLLM::",    "trtllm",          "tensorrt_llm",
                                        "llama-server",  "ollama",       "ray::",     "text-generation", "lmdeploy",
                                        "ktransformers", "tritonserver", "aphrodite", "mooncake"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strstr(text, WORDS[i])) return true;
    return false;
}

static size_t read_proc(const char *root, long pid, const char *file, char *out, size_t size) {
    char path[256];
    snprintf(path, sizeof(path), "%s/proc/%ld/%s", root ? root : "", pid, file);
    FILE *f = fopen(path, "re");
    out[0] = 0;
    if (!f) return 0;
    size_t n = fread(out, 1, size - 1, f);
    fclose(f);
    out[n] = 0;
    return n;
}

/* Ticks since boot in field 22 of stat, behind the name, which may hold anything. NaN: not known. */
static double started(const char *root, long pid) {
    char stat[1024], uptime[64];
    unsigned long long ticks = 0;
    if (!read_proc(root, pid, "stat", stat, sizeof(stat))) return NAN;
    const char *p = strrchr(stat, ')');
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    long hz = sysconf(_SC_CLK_TCK);
    snprintf(uptime, sizeof(uptime), "%s/proc/uptime", root ? root : "");
    FILE *f = fopen(uptime, "re");
    double up = NAN;
    if (f && fscanf(f, "%lf", &up) != 1) up = NAN;
    if (f) fclose(f);
    if (!p || sscanf(p, " %llu", &ticks) != 1 || hz <= 0) return NAN;
    return dg_time_now() - up + (double)ticks / (double)hz;
}

static const char MPS_NAME[] = "nvidia-cuda-mps"; /* all of it that a process name has room for */

void dg_holder_describe(const char *root, struct dg_holder *h) {
    char comm[64], cmdline[1024];
    size_t n = read_proc(root, h->pid, "comm", comm, sizeof(comm));
    if (n && comm[n - 1] == '\n') comm[n - 1] = 0;
    n = read_proc(root, h->pid, "cmdline", cmdline, sizeof(cmdline));
    for (size_t i = 0; i < n; i++)
        if (!cmdline[i]) cmdline[i] = ' ';
    snprintf(h->name, sizeof(h->name), "%s", comm);
    h->started = started(root, h->pid);
    h->mps = !strncmp(comm, MPS_NAME, sizeof(MPS_NAME) - 1);
    h->server_leftover = looks_like_server(comm) || looks_like_server(cmdline);
}

/* Control daemon and server have one process name: the command line tells them apart. */
static void note_mps(const char *root, long pid, struct dg_mps *m) {
    char comm[64], cmdline[1024];
    if (!read_proc(root, pid, "comm", comm, sizeof(comm)) || strncmp(comm, MPS_NAME, sizeof(MPS_NAME) - 1) != 0) return;
    read_proc(root, pid, "cmdline", cmdline, sizeof(cmdline)); /* up to its first NUL: the program */
    if (strstr(cmdline, "mps-control") && !m->control) m->control = pid;
    if (strstr(cmdline, "mps-server") && !m->server) m->server = pid;
}

void dg_mps_find(const char *root, const struct dg_env *env, struct dg_mps *ret) {
    const char *named = env ? env->cuda_mps_pipe_directory : NULL, *pipe = named && *named ? named : "/tmp/nvidia-mps";
    char path[512];
    *ret = (struct dg_mps){0};
    snprintf(path, sizeof(path), "%s%.255s/control", root ? root : "", pipe);
    if (!access(path, F_OK)) snprintf(ret->pipe, sizeof(ret->pipe), "%s", pipe);
    snprintf(path, sizeof(path), "%s/proc", root ? root : "");
    DIR *proc = opendir(path);
    if (!proc) return;
    for (struct dirent *e; (e = readdir(proc));)
        if (isdigit((unsigned char)e->d_name[0])) note_mps(root, strtol(e->d_name, NULL, 10), ret);
    closedir(proc);
}

static bool known(const struct dg_device *d, long pid) {
    for (uint32_t i = 0; i < d->n_holders; i++)
        if (d->holders[i].pid == pid) return true;
    return false;
}

/* N of a link to /dev/nvidiaN, or -1. */
static long gpu_minor(const char *link) {
    const char *p = strstr(link, "/dev/nvidia");
    if (!p || !isdigit((unsigned char)p[11])) return -1;
    return strtol(p + 11, NULL, 10);
}

/* Which GPUs does this process have open? Bits; false when its descriptors may not be read. */
static bool open_gpus(const char *root, const char *pid, uint64_t *ret) {
    char dir[256];
    *ret = 0;
    snprintf(dir, sizeof(dir), "%s/proc/%.16s/fd", root ? root : "", pid);
    DIR *d = opendir(dir);
    if (!d) return errno != EACCES && errno != EPERM;
    for (struct dirent *e; (e = readdir(d));) {
        char path[512], target[256];
        snprintf(path, sizeof(path), "%s/%.32s", dir, e->d_name);
        ssize_t n = readlink(path, target, sizeof(target) - 1);
        if (n <= 0) continue;
        target[n] = 0;
        long minor = gpu_minor(target);
        if (minor >= 0 && minor < 64) *ret |= UINT64_C(1) << minor;
    }
    closedir(d);
    return true;
}

/* The number of the first pid namespace is the same on every machine. */
static bool in_namespace(const char *root) {
    static const ino_t FIRST = 0xEFFFFFFC;
    char path[256];
    struct stat st;
    snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root ? root : "");
    return !stat(path, &st) && st.st_ino != FIRST;
}

const char *dg_holders_from_proc(const char *root, struct dg_devices *d) {
    char dir[256];
    bool complete = true;
    snprintf(dir, sizeof(dir), "%s/proc", root ? root : "");
    DIR *proc = opendir(dir);
    if (!proc) return "no /proc here: who holds the GPUs is not known; on the host: fuser -v /dev/nvidia*";
    for (struct dirent *e; (e = readdir(proc));) {
        uint64_t gpus;
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        if (!open_gpus(root, e->d_name, &gpus)) complete = false;
        for (uint32_t i = 0; gpus && i < d->n && i < 64; i++) {
            struct dg_holder h = {.pid = strtol(e->d_name, NULL, 10), .memory = UINT64_MAX};
            if (!(gpus >> i & 1) || known(&d->v[i], h.pid)) continue;
            dg_holder_describe(root, &h);
            if (!dg_holder_add(&d->v[i], &h)) complete = false;
        }
    }
    closedir(proc);
    if (!complete) return "holders of the GPUs are listed as far as this user may see them: sudo diagnose device";
    return in_namespace(root)
               ? "holders of the GPUs outside this container are not seen; on the host: fuser -v /dev/nvidia*"
               : NULL;
}
