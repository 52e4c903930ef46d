/* What the machine's GPUs hold: whose memory it was, and what is said before a retry. */
#include "reason_fixture.h"

#define GIB (UINT64_C(1) << 30)

static struct dg_holder holder;

/* SGLang dies of memory on a machine with one GPU of 96 GiB, `free` GiB of them free now. */
static struct fx *oom(unsigned free_now) {
    struct fx *x = fx_server();
    x->devices[0] = (struct dg_device){
        .name = "NVIDIA RTX PRO 6000", .cc = {12, 0}, .memory_total = 96 * GIB, .memory_free = free_now * GIB};
    x->given = (struct dg_devices){.v = x->devices, .n = 1, .looked = true, .holders_complete = true};
    x->opts.devices = &x->given;
    fx_fact(x, 1, "engine", "sglang");
    return x;
}

static struct dg_finding *dies(struct fx *x) {
    struct dg_rule *r = fx_rule(x, "oom/torch", DG_ROLE_CAUSE, "oom-device", "graph-capture");
    r->summary = DG_S("graph capture ran out");
    return fx_find(x, r, 0, 100, "CUDA out of memory");
}

static void hold(struct fx *x, const char *name, unsigned gib, double started) {
    holder = (struct dg_holder){.pid = 4242, .memory = gib * GIB, .started = started};
    snprintf(holder.name, sizeof(holder.name), "%s", name);
    holder.server_leftover = !strncmp(name, "sglang", 6);
    x->devices[0].holders = &holder;
    x->devices[0].n_holders = 1;
}

static void numbers(struct fx *x, const char *total, const char *free_then, const char *own) {
    fx_fact(x, 100, "oom_total", total);
    fx_fact(x, 100, "oom_free", free_then);
    fx_fact(x, 100, "oom_own", own);
}

static const struct dg_cause *judged(struct fx *x, const char *subclass) {
    fx_judge(x);
    const struct dg_cause *c = &x->d->causes[0];
    if (!dg_slice_is(c->subclass, subclass)) fail_msg("%.*s, not %s", DG_FMT(c->subclass), subclass);
    return c;
}

static void test_the_message_counts_what_others_hold(void **state) {
    (void)state;
    struct fx *x = oom(95);
    fx_capture(x, dies(x), "want", "2.00 GiB", DG_CAP_BYTES);
    numbers(x, "95.00 GiB", "1.00 GiB", "60.00 GiB");
    const struct dg_cause *c = judged(x, "other-process");
    assert_slice(c->summary, "others held 34.0 of 95.0 GiB; graph capture ran out");
    assert_slice(c->evidence[0].note, "others held 34.0 of 95.0 GiB");
    assert_slice(x->d->proposals[0].action, "See who holds the GPU: diagnose device --check");
    fx_free(x);
}

static void test_what_others_hold_must_have_been_enough(void **state) {
    (void)state;
    struct fx *x = oom(95);
    fx_capture(x, dies(x), "want", "50.00 GiB", DG_CAP_BYTES);
    numbers(x, "95.00 GiB", "1.00 GiB", "60.00 GiB");
    judged(x, "graph-capture");
    assert_int_equal(x->d->n_proposals, 0);
    fx_free(x);
}

static void test_little_or_impossible_numbers_prove_nothing(void **state) {
    (void)state;
    static const char *const sums[][3] = {
        {"95.00 GiB", "1.00 GiB", "91.00 GiB"}, {"95.00 GiB", "60.00 GiB", "60.00 GiB"}, {"95 GiB", "x", "1 GiB"}};
    for (size_t i = 0; i < 3; i++) {
        struct fx *x = oom(95);
        dies(x);
        numbers(x, sums[i][0], sums[i][1], sums[i][2]);
        judged(x, "graph-capture");
        fx_free(x);
    }
}

static void test_the_start_counts_against_the_machines_own_memory(void **state) {
    (void)state;
    struct fx *x = oom(95);
    fx_fact(x, 50, "free_at_start", "40.00 GB");
    fx_fact(x, 60, "free_at_start", "3.00 GB"); /* a draft model, after the weights */
    dies(x);
    judged(x, "graph-capture"); /* nothing says that the log is of this machine */
    x->opts.exit_code = 1;
    const struct dg_cause *c = judged(x, "other-process");
    assert_slice(c->summary, "others held 56.0 of 96.0 GiB at the start; graph capture ran out");
    assert_int_equal(c->evidence[c->n_evidence - 1].line, 50);
    x->opts.device_stated = true;
    judged(x, "graph-capture");
    fx_free(x);
}

static void test_memory_that_is_the_hosts_too_proves_nothing(void **state) {
    (void)state;
    struct fx *x = oom(95);
    x->devices[0].cc.minor = 1;
    dies(x);
    numbers(x, "95.00 GiB", "1.00 GiB", "60.00 GiB");
    judged(x, "graph-capture");
    fx_free(x);
}

static void test_who_was_there_before_held_it(void **state) {
    (void)state;
    struct fx *x = oom(50);
    dies(x);
    x->opts.exit_code = 1;
    hold(x, "python3", 45, x->sources[0].first_time + 5);
    judged(x, "graph-capture"); /* this launch's own, maybe */
    hold(x, "python3", 45, NAN);
    judged(x, "graph-capture");
    hold(x, "python3", 45, x->sources[0].first_time - 3600);
    const struct dg_cause *c = judged(x, "other-process");
    const struct dg_evidence *e = &c->evidence[c->n_evidence - 1];
    assert_int_equal(e->source, UINT32_MAX);
    assert_slice(e->text, "holding GPU memory now and before this launch: 4242 python3 (45.0 GiB)");
    fx_free(x);
}

static void test_a_clean_gpu_is_said_to_be(void **state) {
    (void)state;
    struct fx *x = oom(95);
    dies(x);
    fx_judge(x);
    assert_int_equal(x->d->free_first.len, 0);
    assert_int_equal(x->d->before_retry.n, 1);
    assert_slice(x->d->before_retry.v[0], "GPU 0: 95.0 of 96.0 GiB free now, nobody holds it");
    x->given.holders_complete = false; /* who is not seen may be there */
    fx_judge(x);
    assert_slice(x->d->before_retry.v[0], "GPU 0: 95.0 of 96.0 GiB free now");
    fx_free(x);
}

static void test_a_leftover_is_named_with_what_would_end_it(void **state) {
    (void)state;
    struct fx *x = oom(50);
    dies(x);
    hold(x, "sglang::schedul", 45, NAN);
    fx_judge(x);
    assert_int_equal(x->d->before_retry.n, 3);
    assert_slice(x->d->before_retry.v[0], "GPU 0: 50.0 of 96.0 GiB free now, held by 4242 sglang::schedul, 45.0 GiB, "
                                          "looks like part of an LLM server");
    assert_slice(x->d->before_retry.v[1], "look first:  ps -o pid,user,lstart,cmd -p 4242");
    assert_slice(x->d->before_retry.v[2], "then, if it is a leftover:  kill 4242");
    hold(x, "Xorg", 1, NAN); /* not for ending */
    fx_judge(x);
    assert_int_equal(x->d->before_retry.n, 2);
    hold(x, "", 45, NAN); /* of another pid namespace: its number means nothing here */
    fx_judge(x);
    assert_false(fx_says(&x->d->before_retry, "kill"));
    assert_false(fx_says(&x->d->before_retry, "ps -o"));
    assert_true(fx_says(&x->d->before_retry, "diagnose device --check"));
    fx_free(x);
}

static void test_other_machines_and_other_causes_are_left_alone(void **state) {
    (void)state;
    struct fx *x = oom(50);
    fx_fact(x, 2, "gpu", "NVIDIA A10");
    fx_fact(x, 2, "gpu_cc", "8.6");
    dies(x);
    fx_judge(x);
    assert_int_equal(x->d->before_retry.n, 0); /* the log is of another GPU */
    fx_free(x);
    x = oom(50);
    fx_find(x, fx_rule(x, "a/config", DG_ROLE_CAUSE, "config", "bad-argument"), 0, 100, "no such argument");
    fx_judge(x);
    assert_int_equal(x->d->before_retry.n, 0); /* never got as far as the GPU */
    fx_free(x);
}

/* The paths that the evidence of a cause in `class` names, joined. */
static void names(const char *class, const char *text, const char *want) {
    struct fx *x = fx_server();
    const char *paths[4];
    char got[9000] = "";
    fx_find(x, fx_rule(x, "a/lib", DG_ROLE_CAUSE, class, "no-kernel-image"), 0, 100, text);
    fx_judge(x);
    size_t n = dg_named_libraries(x->d, x->arena, paths, 4);
    for (size_t i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "", paths[i]);
    assert_string_equal(got, want);
    fx_free(x);
}

static void test_only_libraries_are_named(void **state) {
    (void)state;
    names("arch-mismatch", "ImportError: /a/b.abi3.so: undefined symbol: x", "/a/b.abi3.so");
    names("loader", "(0x7f in /a/libc10.so) '/b/x.so.12.4', \"/c/d.whl\" /e/f.so.",
          "/a/libc10.so /b/x.so.12.4 /c/d.whl /e/f.so");
    names("loader", "/a/x.so /a/x.so", "/a/x.so");
    names("loader", "/1.so /2.so /3.so /4.so /5.so", "/1.so /2.so /3.so /4.so");
    static const char *const refused[] = {"/etc/shadow", "/a/b.so.txt",          "relative/x.so", "../x.so", "~/x.so",
                                          "/dev/x.so",   "/proc/self/root/x.so", "/sys/x.so",     "/",       "/x.py",
                                          "/x.sock",     "/x.so\x01.txt"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        names("loader", refused[i], strstr(refused[i], "\x01") ? "/x.so" : "");
    names("config", "/a/b.abi3.so", "");
    char longest[5000] = "/";
    memset(longest + 1, 'a', 4990);
    memcpy(longest + 4991, ".so", 4);
    names("loader", longest, "");
}

static void test_a_stack_names_its_libraries(void **state) {
    (void)state;
    struct fx *x = fx_server();
    const char *paths[4];
    struct dg_rule *frame = fx_rule(x, "facts/frame", DG_ROLE_FACT, "", "");
    fx_find(x, fx_rule(x, "a/lib", DG_ROLE_CAUSE, "arch-mismatch", "no-kernel-image"), 0, 100, "no kernel image");
    fx_capture(x, fx_find(x, frame, 0, 104, ""), "library", "/in/stack.so", DG_CAP_PATH);
    fx_capture(x, fx_find(x, frame, 0, 400, ""), "library", "/of/another.so", DG_CAP_PATH);
    fx_judge(x);
    assert_int_equal(dg_named_libraries(x->d, x->arena, paths, 4), 1);
    assert_string_equal(paths[0], "/in/stack.so");
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_message_counts_what_others_hold),
        cmocka_unit_test(test_what_others_hold_must_have_been_enough),
        cmocka_unit_test(test_little_or_impossible_numbers_prove_nothing),
        cmocka_unit_test(test_the_start_counts_against_the_machines_own_memory),
        cmocka_unit_test(test_memory_that_is_the_hosts_too_proves_nothing),
        cmocka_unit_test(test_who_was_there_before_held_it),
        cmocka_unit_test(test_a_clean_gpu_is_said_to_be),
        cmocka_unit_test(test_a_leftover_is_named_with_what_would_end_it),
        cmocka_unit_test(test_only_libraries_are_named),
        cmocka_unit_test(test_a_stack_names_its_libraries),
        cmocka_unit_test(test_other_machines_and_other_causes_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
