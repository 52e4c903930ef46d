/* Kernel, container and scheduler evidence beside a server's log. The server of these tests starts at 1000 and dies at
 * 2000 s. */
#include "reason_fixture.h"

static struct fx *server_and_kernel(double first, double last) {
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", first, last);
    fx_fact(x, 1, "engine", "sglang");
    fx_find(x, fx_rule(x, "w/killed", DG_ROLE_CONSEQUENCE, "", ""), 0, 1000, "exit code: -9");
    return x;
}

static struct dg_finding *kill_at(struct fx *x, double time, const char *comm) {
    struct dg_rule *r = fx_rule(x, "kernel/oom", DG_ROLE_CAUSE, "oom-host", "kernel-oom-killer");
    struct dg_finding *f = fx_find(x, r, 1, 500, "Out of memory: Killed process 41877");
    f->first.time = f->last.time = time;
    fx_capture(x, f, "comm", comm, DG_CAP_TEXT);
    fx_capture(x, f, "pid", "41877", DG_CAP_PID);
    return f;
}

static void test_a_kill_in_that_second_is_the_cause(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 3000);
    kill_at(x, 1998, "sglang::schedul");
    fx_judge(x);
    fx_top(x, "kernel/oom");
    assert_int_equal(x->d->causes[0].confidence, DG_CERTAIN);
    assert_true(fx_says(&x->d->joins, "joined by time and name (sglang::schedul)"));
    assert_true(fx_says(&x->d->joins, "host pids differ"));
    fx_free(x);
}

static void test_killed_alone_is_no_oom(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 3000);
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_another_process_is_another_matter(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 3000);
    kill_at(x, 1998, "java");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    assert_int_equal(x->d->n_ruled_out, 1);
    assert_slice(x->d->ruled_out[0].class, "oom-host");
    fx_free(x);
}

static void test_another_engines_worker_is_another_matter(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 3000);
    kill_at(x, 1998, "VLLM::Worker_TP");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_hours_before_proves_nothing(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(-90000, 3000);
    kill_at(x, -86000, "python3");
    x->sources[1].time_basis = DG_TIME_BASIS_STATED;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_a_death_without_a_time_may_be_late(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 5000);
    kill_at(x, 2900, "python");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    x->findings[1].first.time = x->findings[1].last.time = NAN; /* a bare "Killed" of the shell */
    fx_judge(x);
    fx_top(x, "kernel/oom");
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    assert_true(fx_says(&x->d->joins, "last time is long before"));
    x->findings[2].first.time = x->findings[2].last.time = 9000;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_a_lost_gpu_stays_lost(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 3000);
    struct dg_rule *lost = fx_rule(x, "xid/off-bus", DG_ROLE_CAUSE, "hardware", "gpu-off-bus");
    struct dg_rule *ordinal = fx_rule(x, "cuda/ordinal", DG_ROLE_CAUSE, "config", "bad-argument");
    struct dg_finding *server = fx_find(x, ordinal, 0, 990, "invalid device ordinal");
    struct dg_finding *kernel = fx_find(x, lost, 1, 500, "fallen off the bus");
    kernel->first.time = kernel->last.time = 1200;
    fx_judge(x); /* nothing says that the one comes of the other */
    fx_top(x, "cuda/ordinal");
    fx_list(x, &lost->explains, "cuda/*");
    fx_judge(x);
    fx_top(x, "xid/off-bus");
    kernel->first.time = kernel->last.time = NAN; /* and without a clock in common */
    fx_judge(x);
    fx_top(x, "xid/off-bus");
    server->rule = fx_rule(x, "oom/kv", DG_ROLE_CAUSE, "oom-device", "kv-cache");
    fx_list(x, &lost->explains, "class:oom-device");
    fx_judge(x); /* of a class alone it proves nothing */
    fx_top(x, "oom/kv");
    fx_free(x);
}

static void test_whole_hours_suggest_a_zone(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 40000);
    kill_at(x, 1998 + 8 * 3600, "sglang::schedul");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE); /* both clocks state their zone */
    x->sources[1].time_basis = DG_TIME_BASIS_ASSUMED;
    fx_judge(x);
    fx_top(x, "kernel/oom");
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    assert_true(fx_says(&x->d->joins, "+8.0 h"));
    fx_free(x);
}

static void test_a_log_that_ends_before_the_death_is_told(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(0, 2000 - 36 * 60);
    fx_judge(x);
    assert_true(fx_says(&x->d->not_checked, "ends 36 min before"));
    fx_free(x);
}

static void test_no_common_clock(void **state) {
    (void)state;
    struct fx *x = server_and_kernel(NAN, NAN);
    kill_at(x, NAN, "sglang::schedul");
    fx_judge(x);
    fx_top(x, "kernel/oom");
    assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
    assert_true(fx_says(&x->d->not_checked, "no clock in common"));
    assert_int_equal(dg_reason_exit(x->d), 3);
    fx_free(x);
}

/* The server's log has no clock; the kernel killed `comm`. */
static struct fx *killed_without_a_clock(const char *command, const char *shell_says, const char *comm) {
    struct fx *x = server_and_kernel(NAN, NAN);
    if (command) fx_fact(x, 2, "command", command);
    if (shell_says) fx_capture(x, &x->findings[1], "program", shell_says, DG_CAP_TEXT);
    kill_at(x, NAN, comm);
    fx_judge(x);
    return x;
}

static void test_the_command_names_the_process(void **state) {
    static const struct {
        const char *command, *shell_says, *comm;
        bool ours;
    } rows[] = {
        {"./main inference --model chrome", NULL, "main", true},
        {"nice -n -20 /opt/bin/a-server-with-a-long-name --port 1", NULL, "a-server-with-a", true},
        {"./main inference --model chrome", NULL, "chrome", false},
        {"./main inference --model /m/java", NULL, "java", false},
        {"./main inference", NULL, "mai", false},
        {"./main inference", NULL, "postgres", false},
        {NULL, "./main", "main", true},
        {NULL, "./main", "java", false},
        {NULL, NULL, "main", false},
        {NULL, NULL, "sgl_diffusion::", true},
    };
    (void)state;
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct fx *x = killed_without_a_clock(rows[i].command, rows[i].shell_says, rows[i].comm);
        assert_int_equal(x->d->status, rows[i].ours ? DG_STATUS_FAILURE : DG_STATUS_INCONCLUSIVE);
        if (rows[i].ours) assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
        fx_free(x);
    }
}

static void test_hardware_comes_before_what_the_server_saw(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 0, 3000);
    fx_find(x, fx_rule(x, "a/illegal", DG_ROLE_CAUSE, "kernel-fault", "illegal-access"), 0, 998,
            "illegal memory access");
    struct dg_finding *f = fx_find(x, fx_rule(x, "xid/79", DG_ROLE_CAUSE, "hardware", "gpu-off-bus"), 1, 600, "Xid 79");
    f->first.time = f->last.time = 2001;
    fx_judge(x);
    fx_top(x, "xid/79");
    f->first.time = f->last.time = 1400; /* ten minutes earlier: something else */
    fx_judge(x);
    fx_top(x, "a/illegal");
    fx_free(x);
}

static void test_a_timeout_looks_back(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 0, 3000);
    struct dg_rule *watchdog = fx_rule(x, "a/watchdog", DG_ROLE_CAUSE, "comm", "nccl-timeout");
    watchdog->symptom = true;
    fx_find(x, watchdog, 0, 1000, "timed out after 600 s");
    struct dg_finding *f = fx_find(x, fx_rule(x, "xid/79", DG_ROLE_CAUSE, "hardware", "gpu-off-bus"), 1, 600, "Xid 79");
    f->first.time = f->last.time = 1400;
    fx_judge(x);
    fx_top(x, "xid/79");
    f->first.time = f->last.time = 1300;
    fx_judge(x);
    fx_top(x, "a/watchdog");
    fx_free(x);
}

static void test_a_kernel_log_by_itself(void **state) {
    (void)state;
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 0, 3000);
    fx_find(x, fx_rule(x, "xid/79", DG_ROLE_CAUSE, "hardware", "gpu-off-bus"), 0, 600, "Xid 79");
    fx_judge(x);
    fx_top(x, "xid/79");
    fx_free(x);
}

static void test_a_kernel_log_of_weeks(void **state) {
    (void)state;
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 0, 1e6);
    fx_find(x, fx_rule(x, "kernel/oom", DG_ROLE_CAUSE, "oom-host", "kernel-oom-killer"), 0, 10, "Out of memory");
    fx_find(x, fx_rule(x, "xid/79", DG_ROLE_CAUSE, "hardware", "gpu-off-bus"), 0, 900, "Xid 79");
    fx_judge(x);
    fx_top(x, "xid/79");
    fx_free(x);
}

static void test_without_a_clock_the_same_class_agrees(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", NAN, NAN);
    fx_find(x, fx_rule(x, "a/no-device", DG_ROLE_CAUSE, "driver", "no-device"), 0, 900, "no CUDA GPUs are available");
    fx_find(x, fx_rule(x, "k/open-needed", DG_ROLE_CAUSE, "driver", "open-module-required"), 1, 12,
            "requires use of the open modules");
    fx_judge(x);
    fx_top(x, "k/open-needed");
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    fx_free(x);
}

static void test_an_xid_that_repeats_the_fault_is_no_cause(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 0, 3000);
    fx_find(x, fx_rule(x, "a/illegal", DG_ROLE_CAUSE, "kernel-fault", "illegal-access"), 0, 998,
            "illegal memory access");
    struct dg_finding *f =
        fx_find(x, fx_rule(x, "xid/31", DG_ROLE_CAUSE, "kernel-fault", "illegal-access"), 1, 600, "Xid 31");
    fx_list(x, &x->rules[1].explains, "class:kernel-fault");
    f->first.time = f->last.time = 1997;
    fx_judge(x);
    fx_top(x, "a/illegal");
    assert_int_equal(x->d->n_causes, 1);
    assert_int_equal(x->d->causes[0].confidence, DG_CERTAIN);
    assert_int_equal(x->d->causes[0].evidence[1].source, 1);
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kill_in_that_second_is_the_cause),
        cmocka_unit_test(test_killed_alone_is_no_oom),
        cmocka_unit_test(test_another_process_is_another_matter),
        cmocka_unit_test(test_another_engines_worker_is_another_matter),
        cmocka_unit_test(test_hours_before_proves_nothing),
        cmocka_unit_test(test_a_death_without_a_time_may_be_late),
        cmocka_unit_test(test_a_lost_gpu_stays_lost),
        cmocka_unit_test(test_whole_hours_suggest_a_zone),
        cmocka_unit_test(test_a_log_that_ends_before_the_death_is_told),
        cmocka_unit_test(test_no_common_clock),
        cmocka_unit_test(test_the_command_names_the_process),
        cmocka_unit_test(test_hardware_comes_before_what_the_server_saw),
        cmocka_unit_test(test_a_timeout_looks_back),
        cmocka_unit_test(test_a_kernel_log_by_itself),
        cmocka_unit_test(test_a_kernel_log_of_weeks),
        cmocka_unit_test(test_without_a_clock_the_same_class_agrees),
        cmocka_unit_test(test_an_xid_that_repeats_the_fault_is_no_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
