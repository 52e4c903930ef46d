/* Files and processes: small helpers over POSIX. */
#ifndef DG_BASE_FILE_H
#define DG_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Whole file appended to `out` (which has its maximum). -DG_E_IO, -DG_E_NOMEM, -DG_E_LIMIT. */
int dg_file_read(const char *path, struct dg_buf *out, struct dg_err *err);
/* Write all of <ptr,len>, over EINTR and short writes. -DG_E_IO with errno kept. */
int dg_fd_write(int fd, const void *ptr, size_t len);
/* mkdir -p with `mode` for what is made. */
int dg_dir_make(const char *path, unsigned mode, struct dg_err *err);
/* "a/b": joined into `out`; no doubled slash. */
int dg_path_join(struct dg_buf *out, const char *dir, const char *name);
/* Sorted names of the entries of `dir` that end in `suffix` (NULL: all), without . and ..; each malloced, array
 * malloced. */
int dg_dir_list(const char *dir, const char *suffix, char ***ret_names, size_t *ret_n, struct dg_err *err);
void dg_names_free(char **names, size_t n);
bool dg_path_is_dir(const char *path);
/* Neither a file nor a folder: a pipe, a socket or a device, which may let a reader wait for ever. */
bool dg_path_is_special(const char *path);
/* May everybody write there? */
bool dg_path_is_open(const char *path);

#endif
