/* The kernel's ring buffer, with a device and a system call that are none. */
#include "unit.h"
#include "ingest/ingest.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEVICE = 1000 };

static struct {
    int open_error;
    const char *const *records; /* NULL at the end */
    int then;                   /* errno of what follows them; 0: the end */
    int interrupted;            /* times that a read is interrupted or told of a loss first */
    int klog_size, klog_read;   /* -1: not permitted */
    int close_count;
} fake;

int open(const char *path, int flags, ...);
int open(const char *path, int flags, ...) {
    if (strcmp(path, "/dev/kmsg") != 0) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    errno = fake.open_error;
    return fake.open_error ? -1 : DEVICE;
}

int close(int fd) {
    if (fd != DEVICE) return (int)syscall(SYS_close, fd);
    fake.close_count++;
    return 0;
}

ssize_t read(int fd, void *to, size_t size) {
    if (fd != DEVICE) return syscall(SYS_read, fd, to, size);
    if (fake.interrupted) {
        errno = fake.interrupted-- % 2 ? EINTR : EPIPE;
        return -1;
    }
    if (*fake.records) {
        size_t n = strlen(*fake.records);
        memcpy(to, *fake.records++, n);
        return (ssize_t)n;
    }
    errno = fake.then;
    return fake.then ? -1 : 0;
}

int klogctl(int type, char *to, int size) {
    static const char text[] = "<6>[    1.000000] from the call\n";
    int n = type == 10 ? fake.klog_size : fake.klog_read;
    errno = EPERM;
    if (type != 10 && n > 0 && size >= n) memcpy(to, text, (size_t)n);
    return n;
}

static const char *const two[] = {"6,1,1,-;one\n", "6,2,2,-;two\n", NULL}, *const none[] = {NULL};

static int look(struct dg_buf *out, struct dg_err *err) {
    dg_buf_init(out, 1 << 20);
    *err = (struct dg_err){0};
    fake.close_count = 0;
    return dg_kmsg_read(out, err);
}

static void reads_the_device(void **state) {
    (void)state;
    struct dg_buf b;
    struct dg_err err;
    for (int then = 0; then <= EAGAIN; then += EAGAIN) {
        fake.records = two;
        fake.then = then;
        fake.interrupted = 3;
        assert_int_equal(look(&b, &err), 0);
        assert_string_equal(b.ptr, "6,1,1,-;one\n6,2,2,-;two\n");
        assert_int_equal(fake.close_count, 1);
        dg_buf_release(&b);
    }
    fake.records = two; /* what came before it broke is better than nothing */
    fake.then = EIO;
    assert_int_equal(look(&b, &err), 0);
    assert_string_equal(b.ptr, "6,1,1,-;one\n6,2,2,-;two\n");
    dg_buf_release(&b);
    fake.records = two; /* and so is what there is room for */
    dg_buf_init(&b, 15);
    assert_int_equal(dg_kmsg_read(&b, &err), 0);
    assert_string_equal(b.ptr, "6,1,1,-;one\n");
    dg_buf_release(&b);
    fake.records = none;
    fake.then = EAGAIN; /* an empty ring is no failure */
    assert_int_equal(look(&b, &err), 0);
    assert_int_equal(b.len, 0);
    dg_buf_release(&b);
}

static void reads_by_the_call(void **state) {
    (void)state;
    struct dg_buf b;
    struct dg_err err;
    fake.open_error = EACCES;
    fake.klog_size = 64;
    fake.klog_read = 32;
    assert_int_equal(look(&b, &err), 0);
    assert_string_equal(b.ptr, "<6>[    1.000000] from the call\n");
    assert_int_equal(fake.close_count, 0);
    dg_buf_release(&b);
    fake.klog_size = 1 << 30; /* more than anybody has */
    assert_int_equal(look(&b, &err), 0);
    assert_int_equal(b.len, 32);
    dg_buf_release(&b);
    dg_mem_fail_after(1);
    assert_int_equal(look(&b, &err), -DG_E_NOMEM);
    dg_mem_fail_after(0);
    dg_buf_release(&b);
    for (int i = 0; i < 2; i++) {
        fake.klog_size = i ? 64 : -1;
        fake.klog_read = -1;
        assert_int_equal(look(&b, &err), -DG_E_IO);
        assert_non_null(strstr(err.msg, "sudo dmesg | diagnose --kernel-log -"));
        dg_buf_release(&b);
    }
    fake.open_error = 0; /* a device that cannot be read at all */
    fake.records = none;
    fake.then = EIO;
    fake.klog_read = 32;
    assert_int_equal(look(&b, &err), 0);
    assert_int_equal(b.len, 32);
    dg_buf_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_the_device), cmocka_unit_test(reads_by_the_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
