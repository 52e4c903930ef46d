/* Logs as data: sources, blocks of messages, prefixes. ingest makes them, match reads them. */
#ifndef DG_MODEL_LOG_H
#define DG_MODEL_LOG_H

#include "base/err.h"
#include "base/slice.h"
#include "base/timex.h"

enum dg_kind {
    DG_KIND_UNKNOWN, /* nothing recognised */
    DG_KIND_SERVER,
    DG_KIND_KERNEL,
    DG_KIND_LOADER,      /* ld.so, ldd, LD_DEBUG */
    DG_KIND_BUILD,       /* compiler, ninja, cmake */
    DG_KIND_CONTAINER,   /* docker, kubectl, memory.events */
    DG_KIND_SCHEDULER,   /* sacct, slurmstepd, systemd */
    DG_KIND_ENVIRONMENT, /* pip freeze, collect_env, nvidia-smi */
    DG_KIND_COUNT
};
const char *dg_kind_name(enum dg_kind k);
bool dg_kind_parse(struct dg_slice name, enum dg_kind *ret);
#define DG_KIND_BIT(k) (1u << (k))

enum dg_time_basis { DG_TIME_BASIS_NONE, DG_TIME_BASIS_STATED, DG_TIME_BASIS_ASSUMED, DG_TIME_BASIS_BOOT };
const char *dg_time_basis_name(enum dg_time_basis b); /* "stated" "assumed" "boot"; NULL for none */

/* What the front of a line says, and the message behind it. Slices point into the line. */
struct dg_prefix {
    struct dg_slice body; /* the message: container, rank, level, time prefixes removed */
    struct dg_slice
        label; /* process name as printed: "EngineCore_DP0", "Worker_TP3", "TP3", "sglang::schedul"; or empty */
    struct dg_slice host; /* syslog/journal host, or empty */
    struct dg_slice
        unit;    /* identifier in syslog/journal ("ollama", "kernel"), also where the message names a process */
    double time; /* epoch seconds, or seconds since boot when `boot_clock`; NaN: none */
    double boot; /* seconds since boot where printed, also behind a wall clock; NaN */
    bool boot_clock;
    bool zone_stated;  /* the line itself says its offset */
    bool year_missing; /* the line has no year: `time` assumes the current one */
    int rank;          /* tensor-parallel / global rank, -1: none */
    long pid;          /* as printed, -1: none */
    char level;        /* 'D' 'I' 'W' 'E' 'F' or 0 */
    bool syslog;       /* came through journald/syslog: `pid` and `label` are the unit's ("kernel": a kernel line) */
};

/* Lines of one source after transformation (decompressed, JSON/CRI/kmsg decoded, ANSI removed, UTF-16 transcoded),
 * newline-separated; `\r` stays inside a line. Line i of the block is raw line first_line + i, or line_map[i] when
 * line_map is set (joined or decoded records); it never decreases. A line longer than half a block may come in
 * overlapping pieces: `continues` says that the block's first line is the rest of the one before, repeated from
 * `overlap` bytes back. Memory: `data` is readable `headroom` (at most DG_BLOCK_HEAD) bytes before and DG_BLOCK_TAIL
 * zero bytes after; what stands within `headroom` is text of earlier blocks of this source, for building records
 * backwards. line_map reaches back as far: line_map[-1] is the line before data[0]. Valid until dg_ingest_release(). */
#define DG_BLOCK_SIZE (1u << 20)
#define DG_BLOCK_HEAD (64u << 10)
#define DG_BLOCK_TAIL 64u
struct dg_block {
    const char *data;
    size_t len;
    size_t headroom;
    uint32_t newlines;        /* in data[0, len) */
    uint64_t first_line;      /* 1-based raw line number of data[0] */
    const uint64_t *line_map; /* NULL: consecutive */
    bool continues, more;     /* first line continues an earlier block / last line goes on in the next */
    size_t overlap;
    bool last;       /* nothing follows in this source; the block may be empty when the end was not known before */
    bool packed;     /* it was decompressed, which takes about as long as to search it */
    uint32_t source; /* index into the list of sources */
};

/* One input (a file, standard input, a member of a bundle). Owned by whoever holds the list; strings are malloced. */
struct dg_source {
    char *name; /* as given; "-" for standard input; "bundle.tar.gz:path" */
    enum dg_kind kind;
    bool kind_stated;             /* --kernel-log */
    uint64_t lines, bytes;        /* after decompression */
    uint64_t long_lines;          /* lines that were scanned in pieces */
    bool truncated;               /* a compressed stream that ends early, or a file that shrank */
    char *error;                  /* NULL, or why it could not be read (wholly) */
    char *hostname;               /* of the machine that wrote it, when stated; or NULL */
    double first_time, last_time; /* epoch; NaN */
    enum dg_time_basis time_basis;
    double year_shift; /* to add to the time of a line without a year, when other lines tell the year; else 0 */
    /* Kernel sources where some lines show both clocks: epoch of the boot (median over these anchors) and how far they
     * lie apart (above 2 s: the machine slept or its clock was set). NaN: no anchor. boot_exact: the kernel itself said
     * the epoch; else it is as good as syslog's stamps. Complete with the last block. */
    double boot_epoch, boot_spread;
    bool boot_exact;
};

/* When a line of `s` was printed, as an epoch: the kernel's own clock where it is the better one. NaN: not known (yet).
 */
static inline double dg_line_epoch(const struct dg_prefix *p, const struct dg_source *s) {
    if (!isnan(p->boot) && !isnan(s->boot_epoch) && (p->boot_clock || s->boot_exact)) return s->boot_epoch + p->boot;
    if (p->boot_clock) return DG_TIME_NONE;
    return p->year_missing ? p->time + s->year_shift : p->time;
}

#endif
