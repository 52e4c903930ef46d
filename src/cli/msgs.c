#include "cli/msgs.h"
#include "base/file.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 64 << 10 };

static void say(struct dg_slice text, const char *before) {
    struct dg_buf out = DG_BUF_INIT(ROOM);
    dg_buf_adds(&out, before);
    dg_utf8_add_shown(&out, text, true);
    dg_buf_addc(&out, '\n');
    dg_fd_write(STDERR_FILENO, dg_buf_slice(&out).ptr, out.len);
    dg_buf_release(&out);
}

void dg_msg(const char *fmt, ...) {
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    say(dg_cstr(text), "diagnose: ");
}

int dg_msg_err(const struct dg_err *err) {
    char text[1024];
    dg_err_format(err, text, sizeof(text));
    say(dg_cstr(text), "diagnose: ");
    return err->code == DG_E_NOMEM || err->code == DG_E_INTERNAL ? DG_EXIT_INTERNAL : DG_EXIT_USAGE;
}

static void show(const struct dg_problem *p, struct dg_buf *out) {
    struct dg_buf text = DG_BUF_INIT(ROOM);
    if (p->file) dg_buf_addf(&text, "%s:", p->file);
    if (p->line) dg_buf_addf(&text, "%u:%u:", p->line, p->col);
    dg_buf_addf(&text, "%s%s\n", text.len ? " " : "", p->msg);
    if (p->snippet && p->col) {
        size_t n = strcspn(p->snippet, "\n");
        dg_buf_addf(&text, "    %.*s\n    %*s^\n", (int)(n < 200 ? n : 200), p->snippet, (int)p->col - 1, "");
    }
    dg_utf8_add_shown(out, dg_buf_slice(&text), true);
    dg_buf_release(&text);
}

void dg_problems_show(const struct dg_problems *probs, struct dg_buf *out) {
    for (size_t i = 0; i < probs->n; i++) show(&probs->v[i], out);
}
