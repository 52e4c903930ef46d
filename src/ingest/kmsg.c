#include "base/mem.h"
#include "ingest/ingest.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/klog.h>
#include <unistd.h>

/* Of the kernel's ring buffer; see syslog(2) and Documentation/ABI/testing/dev-kmsg. */
enum { RECORD_MAX = 8192, READ_ALL = 3, SIZE_BUFFER = 10, RING_MAX = 16 << 20 };

/* /dev/kmsg gives a record a read; EPIPE says that records were overwritten, EAGAIN that there are no more. */
static int read_device(struct dg_buf *out) {
    _cleanup_(dg_closep) int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return -DG_E_IO;
    char record[RECORD_MAX];
    for (;;) {
        ssize_t n = read(fd, record, sizeof(record));
        if (n < 0 && (errno == EINTR || errno == EPIPE)) continue;
        if (n < 0 && errno == EAGAIN) return 0;
        if (n < 0) return -DG_E_IO;
        if (!n) return 0;
        if ((size_t)n > out->max - out->len) return 0; /* the first part is better than nothing */
        int r = dg_buf_add(out, record, (size_t)n);
        if (r) return r;
    }
}

static int read_klog(struct dg_buf *out) {
    int size = klogctl(SIZE_BUFFER, NULL, 0);
    if (size < 0) return -DG_E_IO;
    if (size > RING_MAX) size = RING_MAX;
    _cleanup_(dg_freep) char *ring = dg_malloc((size_t)size);
    if (!ring) return -DG_E_NOMEM;
    int n = klogctl(READ_ALL, ring, size);
    return n < 0 ? -DG_E_IO : dg_buf_add(out, ring, (size_t)n);
}

int dg_kmsg_read(struct dg_buf *out, struct dg_err *err) {
    size_t before = out->len;
    int r = read_device(out);
    if (r == -DG_E_IO && out->len == before) r = read_klog(out);
    if (!r || out->len > before) return 0;
    if (r == -DG_E_NOMEM) return dg_err_nomem(err);
    return dg_err_set(err, DG_E_IO, errno, "cannot read the kernel log (try: sudo dmesg | diagnose --kernel-log -)");
}
