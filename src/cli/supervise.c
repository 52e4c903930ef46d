#include "cli/supervise.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/timex.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { CHUNK = 128 << 10, LINE_MAX_BYTES = 64 << 10 };
static const double DRAIN_SILENCE = 2.0, DRAIN_MOST = 10.0, TERM_GRACE = 10.0, WAIT_MOST = 3600;

/* One stream of the command: where it comes from, where it goes, and the unfinished line for `ready`. */
struct stream {
    int from, to;
    struct dg_buf line;
};

struct run {
    const struct dg_supervise_opts *o;
    struct dg_supervised *ret;
    pid_t child;
    int sigfd, master; /* master: -1 without a pty */
    struct stream out[2];
    struct termios saved;
    bool raw, log_failed, ended, stdin_open;
    char *chunk;
};

/* ---- terminal */

static void terminal_raw(struct run *r) {
    struct termios t;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &r->saved)) return;
    t = r->saved;
    cfmakeraw(&t);
    r->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

static void terminal_restore(struct run *r) {
    if (r->raw) tcsetattr(STDIN_FILENO, TCSADRAIN, &r->saved);
    r->raw = false;
}

static void copy_size(const struct run *r) {
    struct winsize ws;
    if (r->master >= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws)) ioctl(r->master, TIOCSWINSZ, &ws);
}

/* ---- start */

static _Noreturn void exec_child(const struct run *r, const sigset_t *old, int report) {
    sigprocmask(SIG_SETMASK, old, NULL);
    signal(SIGPIPE, SIG_DFL); /* ours are ignored */
    signal(SIGXFSZ, SIG_DFL);
    execvp(r->o->argv[0], r->o->argv);
    int e = errno;
    (void)dg_fd_write(report, &e, sizeof(e));
    _exit(127);
}

static pid_t start_pty(struct run *r, const sigset_t *old, int report) {
    struct winsize ws;
    bool sized = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
    pid_t pid = forkpty(&r->master, NULL, NULL, sized ? &ws : NULL);
    if (pid == 0) exec_child(r, old, report);
    if (pid < 0) return pid;
    r->out[0] = (struct stream){.from = r->master, .to = STDOUT_FILENO, .line = DG_BUF_INIT(LINE_MAX_BYTES)};
    r->out[1] = (struct stream){.from = -1, .to = -1, .line = DG_BUF_INIT(LINE_MAX_BYTES)};
    r->stdin_open = true;
    terminal_raw(r);
    return pid;
}

static pid_t start_pipes(struct run *r, const sigset_t *old, int report) {
    int p[2][2];
    if (pipe2(p[0], O_CLOEXEC)) return -1;
    if (pipe2(p[1], O_CLOEXEC)) {
        close(p[0][0]), close(p[0][1]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[0][1], STDOUT_FILENO);
        dup2(p[1][1], STDERR_FILENO);
        exec_child(r, old, report);
    }
    for (int i = 0; i < 2; i++) {
        int e = errno;
        close(p[i][1]);
        errno = e;
        (void)fcntl(p[i][0], F_SETPIPE_SZ, 1 << 20); /* a wish; the default works */
        r->out[i] = (struct stream){
            .from = p[i][0], .to = i ? STDERR_FILENO : STDOUT_FILENO, .line = DG_BUF_INIT(LINE_MAX_BYTES)};
    }
    return pid;
}

/* The child reports a failed exec through a close-on-exec pipe. */
static int start(struct run *r, const sigset_t *old, struct dg_err *err) {
    int report[2], failed = 0;
    if (pipe2(report, O_CLOEXEC)) return dg_err_set(err, DG_E_IO, errno, "cannot make a pipe");
    r->child = r->o->pty ? start_pty(r, old, report[1]) : start_pipes(r, old, report[1]);
    int e = errno;
    close(report[1]);
    ssize_t n = r->child < 0 ? 0 : read(report[0], &failed, sizeof(failed));
    close(report[0]);
    if (r->child < 0) return dg_err_set(err, DG_E_IO, e, "cannot start '%s'", r->o->argv[0]);
    if (n != (ssize_t)sizeof(failed)) return 0;
    terminal_restore(r);
    waitpid(r->child, NULL, 0);
    return dg_err_set(err, failed == ENOENT ? DG_E_NOTFOUND : DG_E_IO, failed, "cannot run '%s'", r->o->argv[0]);
}

/* ---- passing output through */

static void look_for_ready(struct run *r, struct stream *s, const char *data, size_t len) {
    if (!r->o->ready || r->ret->was_ready) return;
    for (const char *nl; (nl = memchr(data, '\n', len));) {
        size_t n = (size_t)(nl - data);
        dg_buf_add(&s->line, data, n);
        if (!s->line.failed && r->o->ready(r->o->ctx, dg_buf_slice(&s->line))) r->ret->was_ready = true;
        dg_buf_clear(&s->line);
        data += n + 1;
        len -= n + 1;
    }
    dg_buf_add(&s->line, data, len); /* over the limit: the line is passed over */
}

static void to_log(struct run *r, const char *ptr, size_t len) {
    if (!r->log_failed && r->o->log(r->o->ctx, ptr, len)) r->log_failed = true;
}

/* One read. A reader that has gone away stops nothing: the log goes on. False at the end. */
static bool pass(struct run *r, struct stream *s) {
    ssize_t n = read(s->from, r->chunk, CHUNK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) { /* a pty answers EIO when its last holder is gone */
        if (s->from != r->master) close(s->from);
        s->from = -1;
        return false;
    }
    if (s->to >= 0 && dg_fd_write(s->to, r->chunk, (size_t)n)) s->to = -1;
    to_log(r, r->chunk, (size_t)n);
    look_for_ready(r, s, r->chunk, (size_t)n);
    return true;
}

static void relay_input(struct run *r) {
    char text[4096];
    ssize_t n = read(STDIN_FILENO, text, sizeof(text));
    if (n > 0)
        (void)dg_fd_write(r->master, text, (size_t)n);
    else if (n == 0 || errno != EINTR) {
        static const char end_of_file = 'D' & 31;
        (void)dg_fd_write(r->master, &end_of_file, 1);
        r->stdin_open = false;
    }
}

/* ---- signals and children */

static void note_end(struct run *r, int status, const struct rusage *use) {
    r->ended = true;
    r->ret->ended = dg_time_now();
    r->ret->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->ret->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    r->ret->peak_rss = (uint64_t)use->ru_maxrss << 10;
}

static void reap(struct run *r) {
    struct rusage use;
    int status;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &use)) > 0;) {
        if (pid == r->child)
            note_end(r, status, &use);
        else if (((uint64_t)use.ru_maxrss << 10) > r->ret->peak_rss)
            r->ret->peak_rss = (uint64_t)use.ru_maxrss << 10;
    }
}

static void on_signal(struct run *r) {
    struct signalfd_siginfo si;
    if (read(r->sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si)) return;
    switch (si.ssi_signo) {
    case SIGCHLD: reap(r); break;
    case SIGWINCH: copy_size(r); break;
    default:
        /* From the terminal it went to the whole foreground group, the command included. */
        if (!r->ended && (r->master >= 0 || si.ssi_code != SI_KERNEL)) kill(r->child, (int)si.ssi_signo);
    }
}

/* It was not ready in time. The log says so where it happened: what follows is the end that we brought. */
static void time_out(struct run *r) {
    char text[96];
    bool inside = r->out[0].line.len || r->out[1].line.len; /* a line */
    int n = snprintf(text, sizeof(text), "%s[diagnose run: not ready after %.0f s, SIGTERM sent]\n", inside ? "\n" : "",
                     r->o->timeout_ready);
    r->ret->timed_out = true;
    to_log(r, text, (size_t)n);
    kill(r->child, SIGTERM);
}

static double least(double a, double b) { return a < b ? a : b; }

/* Until it is ready it may take that long, then it is asked to end, then killed. The seconds until there is more to do.
 */
static double wait_ready(struct run *r, double now, double begun, double *term_at) {
    double limit = r->o->timeout_ready;
    if (r->ended || limit <= 0 || r->ret->was_ready) return WAIT_MOST;
    if (!r->ret->timed_out && now - begun >= limit) {
        *term_at = now;
        time_out(r);
    } else if (r->ret->timed_out && now - *term_at >= TERM_GRACE) {
        kill(r->child, SIGKILL);
        *term_at = now;
    }
    return r->ret->timed_out ? TERM_GRACE - (now - *term_at) : limit - (now - begun);
}

/* Until the main child has ended and its output is drained: 2 s of silence, 10 s at most. */
static void loop(struct run *r) {
    double quiet_since = dg_time_mono(), ended_at = 0, begun = quiet_since, term_at = 0;
    while (!r->ended || r->out[0].from >= 0 || r->out[1].from >= 0) {
        double now = dg_time_mono(), wait = wait_ready(r, now, begun, &term_at);
        if (r->ended && !(ended_at > 0)) ended_at = quiet_since = now;
        if (r->ended && (now - quiet_since >= DRAIN_SILENCE || now - ended_at >= DRAIN_MOST)) return;
        if (r->ended) wait = least(DRAIN_SILENCE - (now - quiet_since), DRAIN_MOST - (now - ended_at));
        struct pollfd p[4] = {
            {.fd = r->sigfd, .events = POLLIN},
            {.fd = r->out[0].from, .events = POLLIN},
            {.fd = r->out[1].from, .events = POLLIN},
            {.fd = r->master >= 0 && r->stdin_open && !r->ended ? STDIN_FILENO : -1, .events = POLLIN}};
        if (poll(p, 4, (int)(wait * 1000) + 1) < 0 && errno != EINTR) return;
        if (p[0].revents) on_signal(r);
        for (int i = 0; i < 2; i++)
            if (p[i + 1].revents && pass(r, &r->out[i])) quiet_since = dg_time_mono();
        if (p[3].revents) relay_input(r);
    }
}

/* ---- leftovers */

static pid_t parent_of(pid_t pid, char *name, size_t size) {
    char path[64], text[512];
    int parent = -1;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = 0;
    char *open = strchr(text, '('), *shut = strrchr(text, ')');
    char state;
    if (!open || !shut || sscanf(shut + 1, " %c %d", &state, &parent) != 2 || state == 'Z') return -1;
    *shut = 0;
    snprintf(name, size, "%s", open + 1);
    return (pid_t)parent;
}

static bool listed(const struct dg_supervised *s, pid_t pid) {
    for (unsigned i = 0; i < s->n_leftovers; i++)
        if (s->leftovers[i].pid == pid) return true;
    return false;
}

/* Orphans of the command are our children now; theirs hang below them. Repeats until a pass finds no more. */
static void find_leftovers(struct dg_supervised *s) {
    bool more = true;
    s->n_leftovers = 0;
    while (more) {
        DIR *proc = opendir("/proc");
        more = false;
        if (!proc) return;
        for (struct dirent *e; (e = readdir(proc)) && s->n_leftovers < DG_COUNT(s->leftovers);) {
            struct dg_leftover l;
            if (!isdigit((unsigned char)e->d_name[0])) continue;
            l.pid = (pid_t)atoi(e->d_name);
            pid_t parent = parent_of(l.pid, l.name, sizeof(l.name));
            if (parent < 0 || listed(s, l.pid) || (parent != getpid() && !listed(s, parent))) continue;
            s->leftovers[s->n_leftovers++] = l;
            more = true;
        }
        closedir(proc);
    }
}

static void end_leftovers(struct run *r) {
    for (int attempt = 0; attempt < 50 && r->ret->n_leftovers; attempt++) {
        for (unsigned i = 0; i < r->ret->n_leftovers; i++)
            if (attempt == 0 || attempt == 30) kill(r->ret->leftovers[i].pid, attempt ? SIGKILL : SIGTERM);
        usleep(100 * 1000);
        reap(r);
        find_leftovers(r->ret);
    }
}

/* ---- the whole */

static void release(struct run *r, const sigset_t *old) {
    terminal_restore(r);
    for (int i = 0; i < 2; i++) {
        if (r->out[i].from >= 0 && r->out[i].from != r->master) close(r->out[i].from);
        dg_buf_release(&r->out[i].line);
    }
    if (r->master >= 0) close(r->master);
    if (r->sigfd >= 0) close(r->sigfd);
    free(r->chunk);
    sigprocmask(SIG_SETMASK, old, NULL);
}

int dg_supervise(const struct dg_supervise_opts *opts, struct dg_supervised *ret, struct dg_err *err) {
    struct run r = {
        .o = opts, .ret = ret, .master = -1, .sigfd = -1, .out = {{.from = -1, .to = -1}, {.from = -1, .to = -1}}};
    sigset_t mask, old;
    *ret = (struct dg_supervised){.exit_code = -1, .exit_signal = -1, .started = dg_time_now()};
    sigemptyset(&mask);
    for (size_t i = 0; i < 8; i++)
        sigaddset(&mask, (int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}[i]);
    sigprocmask(SIG_BLOCK, &mask, &old);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    r.sigfd = signalfd(-1, &mask, SFD_CLOEXEC);
    r.chunk = dg_malloc(CHUNK);
    int rc = r.sigfd < 0 ? dg_err_set(err, DG_E_IO, errno, "cannot watch signals")
             : !r.chunk  ? dg_err_nomem(err)
                         : start(&r, &old, err);
    if (!rc) {
        loop(&r);
        reap(&r);
        find_leftovers(ret);
        if (opts->cleanup) end_leftovers(&r);
    }
    release(&r, &old);
    return rc;
}
