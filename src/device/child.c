#include "device/child.h"
#include "base/mem.h"
#include "base/timex.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything but the pipe is closed, so that a child that cannot be killed holds nothing of ours. close_range needs
 * Linux 5.9. */
static void close_others(int keep) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++) (void)dup2(null, fd);
#ifdef SYS_close_range
    bool done = keep <= 3 || !syscall(SYS_close_range, 3u, (unsigned)keep - 1, 0);
    if (done && !syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0)) return;
#endif
    unsigned long max = (unsigned long)sysconf(_SC_OPEN_MAX); /* -1: no limit */
    for (int fd = 3; fd < 65536 && (unsigned long)fd < max; fd++)
        if (fd != keep) close(fd);
}

static _Noreturn void child_main(int fd, pid_t parent, dg_probe *probe, const void *ctx) {
    struct rlimit none = {0, 0};
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); /* it died before the line above */
    setrlimit(RLIMIT_CORE, &none);
    for (int s = 1; s < 32; s++) signal(s, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    close_others(fd);
    probe(fd, ctx);
    _exit(0);
}

void dg_child_start(struct dg_child *c, dg_probe *probe, const void *ctx) {
    int p[2];
    memset(c, 0, sizeof(*c));
    c->fd = -1;
    c->end = DG_CHILD_DIED;
    if (pipe2(p, O_CLOEXEC)) return;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        /* Above the standard descriptors, which become /dev/null. */
        int fd = p[1] > 2 ? p[1] : fcntl(p[1], F_DUPFD, 3);
        child_main(fd, parent, probe, ctx);
    }
    close(p[1]);
    if (pid < 0) {
        close(p[0]);
        return;
    }
    c->fd = p[0];
    c->pid = pid;
    c->end = DG_CHILD_NONE;
}

static void take_marker(struct dg_child *c, const char *line, size_t len) {
    if (len < 2 || line[0] != 'M' || line[1] != ' ') return;
    size_t n = len - 2 < sizeof(c->marker) - 1 ? len - 2 : sizeof(c->marker) - 1;
    memcpy(c->marker, line + 2, n);
    c->marker[n] = 0;
}

/* One read. False at the end of the stream, or when the child says more than the protocol allows. */
static bool read_some(struct dg_child *c) {
    char chunk[4096];
    ssize_t n = read(c->fd, chunk, sizeof(chunk));
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    if (c->len + (size_t)n > DG_PROBE_MAX) return false;
    char *text = dg_realloc_array(c->text, c->len + (size_t)n + 1, 1);
    if (!text) return false;
    c->text = text;
    size_t start = c->len;
    while (start && text[start - 1] != '\n') start--;
    memcpy(text + c->len, chunk, (size_t)n);
    c->len += (size_t)n;
    text[c->len] = 0;
    for (char *line = text + start, *nl; (nl = memchr(line, '\n', (size_t)(text + c->len - line))); line = nl + 1)
        take_marker(c, line, (size_t)(nl - line));
    return true;
}

static char process_state(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = 0;
    char *paren = strrchr(text, ')');
    return paren && paren[1] == ' ' ? paren[2] : 0;
}

/* Reap without blocking; a child in uninterruptible sleep is left to init. */
static void finish(struct dg_child *c, bool late) {
    int status = 0;
    close(c->fd);
    c->fd = -1;
    if (late) {
        c->end = DG_CHILD_LATE;
        c->state = process_state(c->pid);
        kill(c->pid, SIGKILL);
        waitpid(c->pid, &status, WNOHANG);
        return;
    }
    /* The pipe is closed: it is exiting. A tenth of a second is plenty; after that it is killed. */
    pid_t got = 0;
    for (int i = 0; i < 100 && (got = waitpid(c->pid, &status, WNOHANG)) == 0; i++) usleep(1000);
    if (got == 0) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, &status, WNOHANG);
    }
    c->end = got > 0 && WIFSIGNALED(status) ? DG_CHILD_DIED : DG_CHILD_DONE;
    c->signal = got > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void read_both(struct dg_child *c[2], double patience) {
    double until[2];
    until[0] = until[1] = dg_time_mono() + patience;
    for (;;) {
        struct pollfd p[2];
        double now = dg_time_mono(), wait = -1;
        for (int i = 0; i < 2; i++) {
            if (c[i]->fd >= 0 && now >= until[i]) finish(c[i], true);
            p[i] = (struct pollfd){.fd = c[i]->fd, .events = POLLIN};
            if (c[i]->fd >= 0 && (wait < 0 || until[i] - now < wait)) wait = until[i] - now;
        }
        if (wait < 0) return;
        if (poll(p, 2, (int)(wait * 1000) + 1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; i++) {
            if (c[i]->fd < 0 || !p[i].revents) continue;
            if (read_some(c[i]))
                until[i] = dg_time_mono() + patience;
            else
                finish(c[i], false);
        }
    }
}

static uint64_t number(const char *word) { return *word == '-' ? UINT64_MAX : strtoull(word, NULL, 10); }

static void word_copy(char *out, size_t size, const char *word) {
    snprintf(out, size, "%.*s", (int)size - 1, strcmp(word, "-") != 0 ? word : "");
}

static void parse_device(struct dg_answer *a, const char *line) {
    unsigned index, major = 0, minor = 0;
    char cc[16], total[24], free[24], mig[8], uuid[64], pci[40];
    int mode, at = 0;
    if (a->n >= DG_PROBE_GPUS) return;
    if (sscanf(line, "D %u %15s %23s %23s %d %7s %63s %39s %n", &index, cc, total, free, &mode, mig, uuid, pci, &at) <
        8)
        return;
    struct dg_device *d = &a->v[a->n++];
    *d = (struct dg_device){
        .index = index, .memory_total = number(total), .memory_free = number(free), .compute_mode = mode};
    if (sscanf(cc, "%u.%u", &major, &minor) == 2 && major < 256 && minor < 256)
        d->cc = (struct dg_cc){(uint8_t)major, (uint8_t)minor};
    d->mig = mig[0] == '1';
    word_copy(d->uuid, sizeof(d->uuid), uuid);
    word_copy(d->pci, sizeof(d->pci), pci);
    snprintf(d->name, sizeof(d->name), "%.127s", line + at);
}

static void parse_line(struct dg_answer *a, const char *line) {
    int code;
    if (line[0] == 'D') {
        parse_device(a, line);
    } else if (line[0] == 'V') {
        char driver[32];
        if (sscanf(line, "V %d %31s", &a->cuda, driver) == 2) word_copy(a->driver, sizeof(a->driver), driver);
    } else if (line[0] == 'F' && !a->failed) {
        int at = 0;
        if (sscanf(line, "F %d %n", &code, &at) == 1) {
            a->failed = true;
            a->code = code;
            snprintf(a->failure, sizeof(a->failure), "%s", line + at);
        }
    } else if (line[0] == 'P' && a->n_processes < DG_COUNT(a->process)) {
        unsigned index;
        long pid;
        char memory[24];
        if (sscanf(line, "P %u %ld %23s", &index, &pid, memory) == 3) {
            a->process[a->n_processes].index = index;
            a->process[a->n_processes].pid = pid;
            a->process[a->n_processes++].memory = number(memory);
        }
    } else if (line[0] == 'E' && !line[1]) {
        a->complete = true;
    }
}

static void parse_answer(struct dg_child *c) {
    for (char *line = c->text, *nl; line && (nl = strchr(line, '\n')); line = nl + 1) {
        *nl = 0;
        if (nl - line < DG_PROBE_LINE) parse_line(&c->answer, line);
    }
}

void dg_child_join2(struct dg_child *a, struct dg_child *b, double patience) {
    struct dg_child *both[2] = {a, b};
    read_both(both, patience);
    parse_answer(a);
    parse_answer(b);
}

void dg_child_wait(struct dg_child *c, double seconds) {
    double until = dg_time_mono() + seconds;
    while (c->fd >= 0) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        double left = until - dg_time_mono();
        int r = left > 0 ? poll(&p, 1, (int)(left * 1000) + 1) : 0;
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0)
            finish(c, true);
        else if (!read_some(c))
            finish(c, false);
    }
}

void dg_child_release(struct dg_child *c) {
    if (c->fd >= 0) finish(c, true);
    free(c->text);
    c->text = NULL;
}
