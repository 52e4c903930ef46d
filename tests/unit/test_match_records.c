/* Tracebacks, aborts and lines that look fatal by themselves; without any rule unless said. */
#include "match_fixture.h"

static const char ONE_RULE[] = "- {id: oom, title: x, role: cause, class: a/b, match: {lit: 'out of memory'}}\n"
                               "- {id: calm, title: x, role: noise, match: {lit: 'ignored: '}}\n";

static void check(const char *text, const char *want) {
    struct fx_rules x;
    fx_rules(&x, ONE_RULE);
    fx_expect(&x, text, FX_FATALS | FX_FINDINGS, want);
    fx_done(&x);
}

static void a_traceback_ends_in_its_exception(void **state) {
    (void)state;
    check("Traceback (most recent call last):\n"
          "  File \"a.py\", line 1, in f\n"
          "    g()\n"
          "ValueError: bad value\n"
          "[2026-05-22 09:20:44] next entry\n",
          "fatal traceback 4 record 1-4 ValueError\n");
}

static void a_rule_hit_knows_its_record(void **state) {
    (void)state;
    check("[2026-05-22 09:20:44 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
          "  File \"a.py\", line 1, in f\n"
          "torch.OutOfMemoryError: CUDA out of memory.\n"
          "Tried hard.\n"
          "\n"
          "[2026-05-22 09:20:45 TP1] bye\n",
          "oom 3 record 1-5\nfatal traceback 3 record 1-5 torch.OutOfMemoryError\n");
}

static void a_chain_is_one_record_and_its_first_exception_counts(void **state) {
    (void)state;
    check("Traceback (most recent call last):\n"
          "  File \"a.py\", line 1, in f\n"
          "KeyError: 'x'\n"
          "\n"
          "During handling of the above exception, another exception occurred:\n"
          "\n"
          "Traceback (most recent call last):\n"
          "  File \"b.py\", line 2, in g\n"
          "RuntimeError: wrapped\n"
          "\n"
          "The above exception was the direct cause of the following exception:\n"
          "\n"
          "Traceback (most recent call last):\n"
          "  File \"c.py\", line 3, in h\n"
          "SystemExit: 1\n",
          "fatal traceback 3 record 1-15 KeyError\n");
}

static void each_line_may_carry_the_prefix(void **state) {
    (void)state;
    check("(EngineCore_DP0 pid=411) ERROR 05-22 11:42:02 [core.py:843] EngineCore failed to start.\n"
          "(EngineCore_DP0 pid=411) ERROR 05-22 11:42:02 [core.py:843] Traceback (most recent call last):\n"
          "(EngineCore_DP0 pid=411) ERROR 05-22 11:42:02 [core.py:843]   File \"a.py\", line 1, in f\n"
          "(EngineCore_DP0 pid=411) ERROR 05-22 11:42:02 [core.py:843] RuntimeError: no\n"
          "(EngineCore_DP0 pid=411) INFO 05-22 11:42:03 [core.py:850] bye\n",
          "fatal level 1\nfatal traceback 4 record 2-4 RuntimeError\n");
}

static void ranks_may_interleave(void **state) {
    (void)state;
    check("[rank0]: Traceback (most recent call last):\n"
          "[rank1]: Traceback (most recent call last):\n"
          "[rank0]:   File \"a.py\", line 1, in f\n"
          "[rank1]:   File \"b.py\", line 1, in f\n"
          "[rank1]: ValueError: of one\n"
          "[rank0]: TypeError: of nought\n",
          "fatal traceback 5 record 2-5 ValueError\nfatal traceback 6 record 1-6 TypeError\n");
}

static void other_lines_may_stand_between(void **state) {
    (void)state;
    check("Traceback (most recent call last):\n"
          "[2026-05-22 09:20:44 TP1] Decode batch.\n"
          "  File \"a.py\", line 1, in f\n"
          "[2026-05-22 09:20:44 TP1] Decode batch.\n"
          "ValueError: bad\n",
          "fatal traceback 5 record 1-5 ValueError\n");
}

static void a_cut_traceback_is_told_by_its_head(void **state) {
    (void)state;
    check("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n", "fatal traceback 1 record 1-2\n");
}

static void a_new_traceback_ends_the_one_before(void **state) {
    (void)state;
    check(
        "Traceback (most recent call last):\n  File \"a.py\"\nValueError: a\nTraceback (most recent call last):\n  File \"b.py\"\nTypeError: b\n",
        "fatal traceback 3 record 1-3 ValueError\nfatal traceback 6 record 4-6 TypeError\n");
}

static void a_group_is_told_by_its_members(void **state) {
    (void)state;
    check("  + Exception Group Traceback (most recent call last):\n"
          "  |   File \"a.py\", line 1, in f\n"
          "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n"
          "  +-+---------------- 1 ----------------\n"
          "    | Traceback (most recent call last):\n"
          "    |   File \"b.py\", line 2, in g\n"
          "    | ConnectionError: refused\n"
          "    +------------------------------------\n",
          "fatal traceback 7 record 5-7 ConnectionError\n");
}

static void an_abort_is_told_by_its_what(void **state) {
    (void)state;
    check("terminate called after throwing an instance of 'c10::Error'\n"
          "  what():  CUDA error: an illegal memory access\n"
          "frame #0: c10::Error\n"
          "[2026-05-22 09:20:44] next\n",
          "fatal abort 2 record 1-3\n");
}

static void noise_is_not_fatal(void **state) {
    (void)state;
    check("ignored: ValueError: nothing\n", "calm 1\n");
    check("Traceback (most recent call last):\n  File \"a.py\"\nValueError: ignored: nothing\n", "calm 3 record 1-3\n");
}

static void single_lines(void **state) {
    (void)state;
    check("ERROR 05-22 11:42:02 [core.py:843] it broke\n", "fatal level 1\n");
    check("INFO 05-22 11:42:02 [core.py:843] the ERROR counter is 0\n", "");
    check("RuntimeError: no\n", "fatal exception 1 RuntimeError\n");
    check("raised my.mod.OddError: no\n", "fatal exception 1 my.mod.OddError\n");
    check("Fatal Python error: Segmentation fault\n", "fatal abort 1\n");
    check("bash: line 1: 77 Segmentation fault (core dumped) python\n", "fatal abort 1\n");
    check("a non-fatal thing, is_fatal=false\n", "");
    check("nvcc fatal   : Unsupported gpu architecture\n", "fatal other 1\n");
    check("FAILED: a.o\n", "fatal other 1\n");
    check("x.cu:3:1: error: no\n", "fatal other 1\n");
    check("thread 'main' panicked at src/main.rs:1:2\n", "fatal abort 1\n");
    check("WARNING 05-22 11:42:02 [a.py:1] TimeoutError: will try again\n", "");
}

static void the_kernel_log_has_none(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 0};
    struct fx_rules x;
    struct fx_log log = {0};
    fx_rules(&x, ONE_RULE);
    fx_add(&log, DG_KIND_KERNEL, DG_S("[    1.0] fatal error: x\n[    1.1] Traceback (most recent call last):\n"));
    fx_expect_log(&x, &log, BLOCKS, FX_FATALS, "");
    fx_done(&x);
}

static void first_and_last_of_many_are_kept(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 20), want = DG_BUF_INIT(1 << 16);
    fx_rules(&x, ONE_RULE);
    for (int i = 1; i <= 500; i++) {
        dg_buf_addf(&text, "RuntimeError: number %d\n", i);
        if (i <= 32 || i > 468) dg_buf_addf(&want, "fatal exception %d RuntimeError\n", i);
    }
    fx_expect(&x, text.ptr, FX_FATALS, want.ptr);
    dg_buf_release(&text);
    dg_buf_release(&want);
    fx_done(&x);
}

static void more_open_records_than_there_is_room_for(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    fx_rules(&x, ONE_RULE);
    for (int i = 0; i < 600; i++)
        dg_buf_addf(&text, "(Worker_TP0 pid=%d) Traceback (most recent call last):\n", 1000 + i);
    for (int i = 0; i < 600; i++) dg_buf_addf(&text, "(Worker_TP0 pid=%d) ValueError: out of memory\n", 1000 + i);
    fx_expect(&x, text.ptr, FX_FATALS | FX_FINDINGS, NULL);
    dg_buf_release(&text);
    fx_done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceback_ends_in_its_exception),
        cmocka_unit_test(a_rule_hit_knows_its_record),
        cmocka_unit_test(a_chain_is_one_record_and_its_first_exception_counts),
        cmocka_unit_test(each_line_may_carry_the_prefix),
        cmocka_unit_test(ranks_may_interleave),
        cmocka_unit_test(other_lines_may_stand_between),
        cmocka_unit_test(a_cut_traceback_is_told_by_its_head),
        cmocka_unit_test(a_new_traceback_ends_the_one_before),
        cmocka_unit_test(a_group_is_told_by_its_members),
        cmocka_unit_test(an_abort_is_told_by_its_what),
        cmocka_unit_test(noise_is_not_fatal),
        cmocka_unit_test(single_lines),
        cmocka_unit_test(the_kernel_log_has_none),
        cmocka_unit_test(first_and_last_of_many_are_kept),
        cmocka_unit_test(more_open_records_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
