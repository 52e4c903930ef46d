/* The look at the GPUs when the system says no, and with libraries that lack what they may lack. The linker puts each
 * __wrap_x in the place of x (tests/CMakeLists.txt). */
#include "device_fixture.h"
#include "base/buf.h"
#include "device/holders.h"
#include "device/probe.h"
#include "device/say.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>

/* ---- calls that fail at the n-th use */

static struct {
    const char *name;
    int left; /* 0: never */
    int error;
} fault;

static void fail_at(const char *name, int nth, int error) {
    fault.name = name;
    fault.left = nth;
    fault.error = error;
}

static bool fails(const char *name) {
    if (!fault.left || strcmp(fault.name, name) != 0 || --fault.left) return false;
    errno = fault.error;
    return true;
}

#define WRAP(type, name, parameters, arguments, failed)                                                                \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters { return fails(#name) ? (failed) : __real_##name arguments; }

WRAP(int, pipe2, (int p[2], int flags), (p, flags), -1)
WRAP(pid_t, fork, (void), (), -1)
WRAP(pid_t, getppid, (void), (), 1)
WRAP(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), -1)
WRAP(int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms), -1)
WRAP(DIR *, opendir, (const char *path), (path), NULL)
WRAP(long, sysconf, (int name), (name), -1)
WRAP(int, gethostname, (char *name, size_t size), (name, size), -1)
WRAP(char *, strdup, (const char *text), (text), NULL)

/* Of the rest only the calls that a test is about. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, int mode);
int __wrap_open(const char *path, int flags, int mode) {
    return !strcmp(path, "/dev/null") && fails("open") ? -1 : __real_open(path, flags, mode);
}
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
    return mode != F_OK && fails("access") ? -1 : __real_access(path, mode);
}
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    return number == SYS_close_range && fails("close_range") ? -1 : __real_syscall(number, a, b, c, d, e, f);
}

static const char *instead; /* what fopen opens, whatever it is asked for; NULL: that */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    return fails("fopen") ? NULL : __real_fopen(instead ? instead : path, mode);
}

/* ---- libraries: the stand-in driver, wherever it is sought */

static bool no_libraries, required_alone;
static const char *absent; /* a symbol */

void *__wrap_dlopen(const char *path, int flags);
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags) {
    char fake[400];
    if (no_libraries) return NULL;
    snprintf(fake, sizeof(fake), "%s/tests/fake/whole/%s", getenv("BUILD_DIR"), path);
    return __real_dlopen(fake, flags);
}

static bool is_optional(const char *name) {
#define X(member, symbol, required, type)                                                                              \
    if (!(required) && !strcmp(name, symbol)) return true;
#include "device/cuda_sym.def"
#include "device/nvml_sym.def"
#undef X
    return false;
}

void *__wrap_dlsym(void *lib, const char *name);
void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name) {
    if ((absent && !strcmp(name, absent)) || (required_alone && is_optional(name))) return NULL;
    return __real_dlsym(lib, name);
}

static int set_up(void **state) {
    fail_at(NULL, 0, 0);
    instead = absent = NULL;
    no_libraries = required_alone = false;
    return device_set_up(state);
}

/* ---- children */

/* To its end, beside one that was never started. */
static struct dg_child play_alone(const char *text, int then, double patience) {
    struct script s = {text, then};
    struct dg_child c, none = {.fd = -1};
    dg_child_start(&c, play, &s);
    dg_child_join2(&c, &none, patience);
    return c;
}

static unsigned count_open(int from) {
    unsigned n = 0;
    for (int fd = from; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_child_that_cannot_be_started(void **state) {
    (void)state;
    static const char *const calls[] = {"pipe2", "fork"};
    unsigned before = count_open(0);
    for (size_t i = 0; i < DG_COUNT(calls); i++) {
        fail_at(calls[i], 1, EAGAIN);
        struct dg_child c = play_alone("E\n", 0, 5);
        assert_int_equal(fault.left, 0);
        assert_true(c.end == DG_CHILD_DIED && !c.signal && c.fd < 0 && !c.text && !c.answer.complete);
        assert_int_equal(count_open(0), before);
        dg_child_release(&c);
    }
}

static void a_child_whose_parent_is_gone_ends(void **state) {
    (void)state;
    fail_at("getppid", 1, 0);
    struct dg_child c = play_alone("E\n", 0, 5);
    assert_true(c.end == DG_CHILD_DONE && !c.text);
    dg_child_release(&c);
}

static void tell_open(int fd, const void *ctx) {
    (void)ctx;
    dg_probe_say(fd, "%u", count_open(3) - 1); /* less its own */
}

static void assert_holds_nothing(void) {
    struct dg_child c;
    dg_child_start(&c, tell_open, NULL);
    dg_child_wait(&c, 20);
    assert_string_equal(c.text, "0\n");
    dg_child_release(&c);
}

/* Old kernels close no range: one by one, then, as many as there may be. */
static void children_hold_nothing_of_ours(void **state) {
    (void)state;
    int low = fcntl(2, F_DUPFD, 3), high = fcntl(2, F_DUPFD, 200);
    assert_true(low >= 0 && high >= 200);
    assert_holds_nothing();
    for (int nth = 1; nth <= 2; nth++) {
        fail_at("close_range", nth, ENOSYS);
        assert_holds_nothing();
    }
    close(low);
    close(high);
}

static void say_so(int fd, const void *ctx) {
    (void)ctx;
    dg_probe_say(fd, "said");
}

/* Without a /dev/null; without an input and an output, whose numbers the pipe takes. */
static void odd_places_to_start_from(void **state) {
    (void)state;
    struct dg_child c;
    fail_at("open", 1, ENOENT);
    dg_child_start(&c, say_so, NULL);
    dg_child_wait(&c, 20);
    assert_string_equal(c.text, "said\n");
    dg_child_release(&c);
    int in = fcntl(0, F_DUPFD, 10), out = fcntl(1, F_DUPFD, 10);
    fail_at(NULL, 0, 0);
    close(0);
    close(1);
    dg_child_start(&c, say_so, NULL);
    int place = c.fd;
    dg_child_wait(&c, 20);
    dup2(in, 0);
    dup2(out, 1);
    if (in < 0) close(0);
    close(in);
    close(out);
    assert_int_equal(place, 0);
    assert_string_equal(c.text, "said\n");
    dg_child_release(&c);
}

static void an_interruption_is_not_the_end(void **state) {
    (void)state;
    static const struct {
        const char *call;
        int error;
        bool complete;
        enum dg_child_end end;
    } each[] = {{"read", EINTR, true, DG_CHILD_DONE},
                {"read", EAGAIN, true, DG_CHILD_DONE},
                {"read", EIO, false, DG_CHILD_DONE},
                {"poll", EINTR, true, DG_CHILD_DONE},
                {"poll", ENOMEM, false, DG_CHILD_NONE}};
    for (size_t i = 0; i < DG_COUNT(each); i++) {
        fail_at(each[i].call, 1, each[i].error);
        struct dg_child c = play_alone("E\n", 0, 5);
        assert_int_equal(fault.left, 0);
        assert_true(c.answer.complete == each[i].complete && c.end == each[i].end);
        dg_child_release(&c);
        assert_int_equal(c.fd, -1);
    }
}

static void waiting_for_one_is_interrupted(void **state) {
    (void)state;
    static const struct {
        const char *call;
        int error;
        double seconds;
        enum dg_child_end end;
    } each[] = {{"poll", EINTR, 5, DG_CHILD_DONE}, {"poll", ENOMEM, 5, DG_CHILD_LATE}, {"", 0, 0, DG_CHILD_LATE}};
    struct script s = {"text\n", 0};
    for (size_t i = 0; i < DG_COUNT(each); i++) {
        struct dg_child c;
        dg_child_start(&c, play, &s);
        fail_at(each[i].call, 1, each[i].error);
        dg_child_wait(&c, each[i].seconds);
        assert_int_equal(c.end, each[i].end);
        assert_int_equal(c.text != NULL, each[i].end == DG_CHILD_DONE);
        dg_child_release(&c);
    }
}

static void no_memory_for_what_it_says(void **state) {
    (void)state;
    dg_mem_fail_after(1);
    struct dg_child c = play_alone("E\n", 0, 5);
    dg_mem_fail_after(0);
    assert_true(c.end == DG_CHILD_DONE && !c.text && !c.answer.complete);
    dg_child_release(&c);
}

static char state_by(const char *stat) {
    put("stat", stat);
    instead = folder_at("stat");
    struct dg_child c = play_alone("M cuInit\n", -1, 0.05);
    assert_int_equal(c.end, DG_CHILD_LATE);
    char seen = c.state;
    dg_child_release(&c);
    instead = NULL;
    return seen;
}

static void the_state_of_a_late_child(void **state) {
    (void)state;
    assert_int_equal(state_by("42 (a) b) D 1 1"), 'D');
    assert_int_equal(state_by("42 (cut"), 0);
    assert_int_equal(state_by("42 (a)D 1 1"), 0);
    fail_at("fopen", 1, ENOENT);
    assert_int_equal(state_by("42 (a) D 1 1"), 0);
}

static void what_is_missing_from_an_answer(void **state) {
    (void)state;
    struct dg_child c = play_alone("D 7 9.256 - - 0 0 - -\nF 7\n", 0, 5);
    const struct dg_answer *a = &c.answer;
    assert_true(a->n == 1 && a->v[0].index == 7 && !a->v[0].cc.major && !*a->v[0].name);
    assert_true(a->failed && a->code == 7 && !*a->failure);
    dg_child_release(&c);
}

/* ---- probes */

static void says(dg_probe *probe, struct dg_buf *out) {
    _cleanup_(dg_closep) int fd = open(folder_at("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    probe(fd, NULL);
    dg_buf_release(out);
    *out = (struct dg_buf)DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_file_read(folder_at("said"), out, NULL), 0);
}

static void assert_says(dg_probe *probe, const char *line) {
    _cleanup_(dg_buf_release) struct dg_buf b = {0};
    char whole[200];
    says(probe, &b);
    snprintf(whole, sizeof(whole), "\n%s\n", line);
    if (!strstr(b.ptr, whole)) fail_msg("no '%s' in: %s", line, b.ptr);
}

static void libraries_that_lack_something(void **state) {
    (void)state;
    no_libraries = true;
    assert_says(dg_probe_cuda, "F 0 libcuda.so.1 cannot be opened");
    assert_says(dg_probe_nvml, "F 0 libnvidia-ml.so.1 cannot be opened");
    no_libraries = false;
    absent = "cuInit";
    assert_says(dg_probe_cuda, "F 0 this libcuda.so.1 has no cuInit: it is not a usable driver library");
    absent = "nvmlInit_v2";
    assert_says(dg_probe_nvml, "F 0 this libnvidia-ml.so.1 has no nvmlInit_v2");
    required_alone = true;
    absent = NULL;
    assert_says(dg_probe_cuda, "D 1 12.0 - - 0 - - - NVIDIA RTX PRO 6000");
    assert_says(dg_probe_cuda, "E");
    assert_says(dg_probe_nvml, "V 0 -");
    assert_says(dg_probe_nvml, "D 1 - - - -1 0 - - ");
    assert_says(dg_probe_nvml, "E");
}

static void libraries_that_answer_oddly(void **state) {
    (void)state;
    setenv("FAKE_FAIL", "cuDeviceGetCount nvmlDeviceGetCount_v2", 1);
    assert_says(dg_probe_cuda, "F 3 cuDeviceGetCount answered 0 GPUs");
    assert_says(dg_probe_nvml, "F 3 nvmlDeviceGetCount answered 0");
    unsetenv("FAKE_FAIL");
    setenv("FAKE_COUNT", "-1", 1);
    assert_says(dg_probe_cuda, "F 0 cuDeviceGetCount answered -1 GPUs");
    unsetenv("FAKE_COUNT");
    setenv("FAKE_DRIVER", "", 1);
    assert_says(dg_probe_nvml, "V 13000 -");
    unsetenv("FAKE_DRIVER");
    setenv("FAKE_MIG", "0", 1);
    assert_says(dg_probe_nvml, "D 1 12.0 103079215104 102005473280 -1 0 GPU-abababab-abab-abab-abab-ababababab01 "
                               "00000000:11:00.0 NVIDIA RTX PRO 6000");
}

/* No more processes than there was room for, whatever their number is said to be. */
static void more_processes_than_there_is_room_for(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = {0};
    unsigned n = 0;
    setenv("FAKE_PROCESSES", "100000", 1);
    says(dg_probe_nvml, &b);
    unsetenv("FAKE_PROCESSES");
    for (const char *at = b.ptr; (at = strstr(at, "\nP 0 ")); at++) n++;
    assert_int_equal(n, 256);
    assert_non_null(strstr(b.ptr, "\nE\n"));
}

static void say_too_much(int fd, const void *ctx) {
    (void)ctx;
    char text[600];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    dg_probe_say(fd, "one\ntwo %s", text);
}

static void lines_stay_lines(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = {0};
    says(say_too_much, &b);
    assert_int_equal(b.len, DG_PROBE_LINE - 1);
    assert_ptr_equal(strchr(b.ptr, '\n'), b.ptr + b.len - 1);
    assert_int_equal(strncmp(b.ptr, "one two xxx", 11), 0);
}

/* ---- files */

static void descriptors_that_may_not_be_read(void **state) {
    (void)state;
    struct dg_device one = {.index = 0};
    struct dg_devices d = {.v = &one, .n = 1};
    put_process(41, "python3\n", "python3", "", "/dev/nvidia0");
    static const int denied[] = {EACCES, EPERM};
    for (size_t i = 0; i < DG_COUNT(denied); i++) {
        fail_at("opendir", 2, denied[i]);
        assert_non_null(strstr(dg_holders_from_proc(folder, &d), "as far as this user may see them"));
        assert_int_equal(one.n_holders, 0);
    }
    dg_mem_fail_after(1);
    assert_non_null(strstr(dg_holders_from_proc(folder, &d), "as far as this user may see them"));
    dg_mem_fail_after(0);
    assert_null(dg_holders_from_proc(folder, &d));
    assert_int_equal(one.n_holders, 1);
    free(one.holders);
}

/* Unknown where anything of it is. */
static void when_a_process_started(void **state) {
    (void)state;
    static const char stat[] = "41 (x) S 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 90000 0\n";
    struct dg_holder h = {.pid = 41};
    put("proc/41/stat", stat);
    dg_holder_describe(folder, &h);
    assert_true(isnan(h.started)); /* since when the machine runs is not known */
    put("proc/uptime", "1000.00 1.00\n");
    dg_holder_describe(folder, &h);
    assert_true(h.started > 1e9);
    fail_at("sysconf", 1, EINVAL);
    dg_holder_describe(folder, &h);
    assert_true(isnan(h.started));
    put("proc/41/stat", "41 (x) S 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 never 0\n");
    dg_holder_describe(folder, &h);
    assert_true(isnan(h.started));
}

static void nodes_of_others(void **state) {
    (void)state;
    struct dg_passive p;
    put_driver();
    dg_device_passive(folder, &p);
    assert_int_equal(p.state, DG_DRIVER_LOADED);
    fail_at("access", 1, EACCES);
    dg_device_passive(folder, &p);
    assert_int_equal(p.state, DG_DRIVER_NO_PERMISSION);
}

/* ---- all of it */

static int try_look(const char *root, struct dg_devices *d) {
    struct dg_device_opts opts = {.timeout = 10, .root = root};
    struct dg_look *l = NULL;
    int r = dg_device_start(&opts, &l, NULL);
    return r ? r : dg_device_join(l, d, NULL);
}

static void a_machine_without_a_name(void **state) {
    (void)state;
    struct dg_devices d = {0};
    put("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
    fail_at("gethostname", 1, ENAMETOOLONG);
    assert_int_equal(try_look(folder, &d), 0);
    assert_true(d.n == 1 && !*d.hostname);
    dg_devices_release(&d);
}

/* No root and an empty one are this machine, whatever it is; there is no driver in the place of the stand-in. */
static void no_root_is_this_machine(void **state) {
    (void)state;
    static const char *const roots[] = {NULL, ""};
    no_libraries = true;
    for (size_t i = 0; i < DG_COUNT(roots); i++) {
        struct dg_devices d = {0};
        assert_int_equal(try_look(roots[i], &d), 0);
        assert_true(d.looked && *d.hostname);
        dg_devices_release(&d);
    }
}

struct whole { /* what is seen where nothing fails; holders are those of the first GPU */
    uint32_t devices, holders;
    const char *notes[2];
};

static bool is_whole(const struct dg_devices *d, const struct whole *w) {
    bool all = d->n == w->devices && (!d->n || d->v[0].n_holders == w->holders);
    uint32_t notes = 0;
    for (; notes < DG_COUNT(w->notes) && w->notes[notes]; notes++) all = all && noted(d, w->notes[notes]);
    return all && d->n_notes == notes;
}

/* Each allocation, then each copy of a text fails: the look is refused, or it says what is missing from it; in the end
 * it is whole. */
static void assert_torture(const struct whole *w) {
    unsigned refused = 0;
    for (int copies = 0; copies < 2; copies++)
        for (unsigned nth = 1, whole = 0; !whole; nth++) {
            struct dg_devices d = {0};
            assert_true(nth < 200);
            if (copies)
                fail_at("strdup", (int)nth, ENOMEM);
            else
                dg_mem_fail_after(nth);
            int r = try_look(folder, &d);
            dg_mem_fail_after(0);
            bool failed = copies && !fault.left;
            fail_at(NULL, 0, 0);
            assert_true(r == -DG_E_NOMEM || (!r && !failed));
            whole = !r && is_whole(&d, w);
            if (!r && !whole)
                assert_true(noted(&d, "gave no usable answer") || noted(&d, "as far as this user may see"));
            refused += r != 0;
            dg_devices_release(&d);
        }
    assert_true(refused >= 3);
}

static void too_little_memory(void **state) {
    (void)state;
    put_driver();
    put("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
    put_process(41, "python3\n", "python3", "", "/dev/nvidia0");
    setenv("FAKE_PIDS", "77:1", 1);
    assert_torture(&(struct whole){3, 2, {"CUDA numbers the GPUs fastest first"}});
    setenv("FAKE_INIT", "999", 1);
    setenv("FAKE_NVML_INIT", "77", 1);
    assert_int_equal(unlink(folder_at("sys/class/kfd/kfd/topology/nodes/1/properties")), 0);
    assert_torture(&(struct whole){0, 0, {"unknown driver error (999)", "NVML result 77"}});
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_child_that_cannot_be_started),
        TEST(a_child_whose_parent_is_gone_ends),
        TEST(children_hold_nothing_of_ours),
        TEST(odd_places_to_start_from),
        TEST(an_interruption_is_not_the_end),
        TEST(waiting_for_one_is_interrupted),
        TEST(no_memory_for_what_it_says),
        TEST(the_state_of_a_late_child),
        TEST(what_is_missing_from_an_answer),
        TEST(libraries_that_lack_something),
        TEST(libraries_that_answer_oddly),
        TEST(more_processes_than_there_is_room_for),
        TEST(lines_stay_lines),
        TEST(descriptors_that_may_not_be_read),
        TEST(when_a_process_started),
        TEST(nodes_of_others),
        TEST(a_machine_without_a_name),
        TEST(no_root_is_this_machine),
        TEST(too_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
