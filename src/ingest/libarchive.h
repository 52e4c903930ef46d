/* libarchive, loaded when the first bundle is opened: it draws in some of the largest libraries of a system, which
 * would otherwise be a third of the time that a small log takes. */
#ifndef DG_INGEST_LIBARCHIVE_H
#define DG_INGEST_LIBARCHIVE_H

#include "base/err.h"
#include <archive.h>
#include <archive_entry.h>

#define DG_LIBARCHIVE(FN)                                                                                              \
    FN(archive_read_new)                                                                                               \
    FN(archive_read_support_format_tar)                                                                                \
    FN(archive_read_support_format_zip)                                                                                \
    FN(archive_read_set_options)                                                                                       \
    FN(archive_read_open)                                                                                              \
    FN(archive_read_next_header)                                                                                       \
    FN(archive_read_data_block)                                                                                        \
    FN(archive_read_free)                                                                                              \
    FN(archive_set_error)                                                                                              \
    FN(archive_errno)                                                                                                  \
    FN(archive_error_string)                                                                                           \
    FN(archive_entry_size_is_set)                                                                                      \
    FN(archive_entry_size)                                                                                             \
    FN(archive_entry_filetype)                                                                                         \
    FN(archive_entry_hardlink)                                                                                         \
    FN(archive_entry_pathname)

struct dg_libarchive {
#define FN(name) __typeof__(name) *name;
    DG_LIBARCHIVE(FN)
#undef FN
};

/* Set it before the first bundle in a program that libarchive is linked into; nothing is loaded then. */
extern const struct dg_libarchive *dg_libarchive_linked;
/* 0: *ret is set, for ever; -DG_E_UNSUPPORTED: it is not on this machine. */
int dg_libarchive_load(const struct dg_libarchive **ret, struct dg_err *err);

#endif
