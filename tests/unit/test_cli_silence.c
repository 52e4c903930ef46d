/* A pipe that falls silent: who holds it, when the report is made, and when it is only offered. */
#include "match_fixture.h"
#include "cli/silence.h"
#include <signal.h>
#include <sys/wait.h>

static const char ENDING[] = "- {id: up, title: up, role: fact, match: {lit: 'ready to serve'}, set: {phase: serving}, "
                             "pulse: true, examples: [{text: 'ready to serve'}], near: [x]}\n"
                             "- {id: killed, title: killed, role: consequence, match: {lit: 'Killed by somebody'}, "
                             "examples: [{text: 'Killed by somebody'}], near: [x]}\n";

static struct fx_rules rules;
static struct dg_silence s;
static pid_t first, worker;
static char said[4096];

/* A process that holds the writing end of our standard input until it is ended. */
static pid_t holder(const int pipe_fds[2]) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid) return pid;
    close(pipe_fds[0]);
    close(STDIN_FILENO);
    for (;;) pause();
}

static int setup(void **state) {
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    first = holder(fds);
    worker = holder(fds);
    close(fds[0]);
    close(fds[1]);
    s = (struct dg_silence){.matcher = rules.matcher};
    return 0;
}

static void end(pid_t *pid) {
    if (!*pid) return;
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

static int teardown(void **state) {
    (void)state;
    end(&first);
    end(&worker);
    return 0;
}

/* A silent second, `quiet` seconds after the last text; what is said meanwhile is in `said`. */
static bool over(double quiet, bool asked) {
    int kept = dup(STDERR_FILENO), fds[2];
    assert_int_equal(pipe(fds), 0);
    dup2(fds[1], STDERR_FILENO);
    s.since = dg_time_mono() - quiet;
    bool r = dg_silence_over(&s, asked);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(fds[1]);
    ssize_t n = read(fds[0], said, sizeof(said) - 1);
    said[n < 0 ? 0 : n] = '\0';
    close(fds[0]);
    return r;
}

static void assert_names(pid_t pid) {
    char text[32];
    snprintf(text, sizeof(text), "(%d)", (int)pid);
    assert_non_null(strstr(said, text));
}

static void the_end_was_told(void **state) {
    (void)state;
    dg_silence_note(&s, DG_S("ready to serve\nKilled by somebody\n"));
    assert_false(over(2, false));
    assert_string_equal(said, "");
    assert_true(over(11, false));
    assert_non_null(strstr(said, "the launch has ended, but its output is held open by "));
    assert_names(first);
    assert_names(worker);
}

static void an_idle_server_is_left_alone(void **state) {
    (void)state;
    dg_silence_note(&s, DG_S("Killed by somebody\nready to serve\n"));
    assert_false(over(11, false));
    assert_false(over(4000, false));
    assert_string_equal(said, "");
    dg_silence_note(&s, DG_S("Killed by somebody\n"));
    assert_true(over(11, false)); /* it is looked at anew */
}

static void nothing_was_read(void **state) {
    (void)state;
    assert_false(over(4000, false));
    assert_string_equal(said, "");
}

/* Killed without a word: it looks as a script that started a server and is done. */
static void the_first_has_gone(void **state) {
    (void)state;
    dg_silence_note(&s, DG_S("loading\n"));
    assert_false(over(1, false));
    assert_int_equal(s.first.n, 2);
    s.first.n = 0; /* as if the worker had come later */
    s.first.pids[s.first.n++] = (uint64_t)first;
    assert_false(over(41, false));
    assert_string_equal(said, ""); /* it is there */
    end(&first);
    assert_false(over(30, false));
    assert_string_equal(said, "");
    assert_false(over(41, false));
    assert_non_null(strstr(said, "what wrote here first has gone"));
    assert_non_null(strstr(said, "Ctrl-C for the report"));
    assert_names(worker);
    assert_false(over(42, false));
    assert_string_equal(said, ""); /* once */
}

static void the_report_is_asked_for(void **state) {
    (void)state;
    dg_silence_note(&s, DG_S("loading\n"));
    assert_false(over(60, true)); /* what was interrupted may still say something */
    assert_string_equal(said, "");
    s.asked -= 11;
    assert_false(over(5, true)); /* and does */
    assert_true(over(11, true));
    assert_non_null(strstr(said, "its output is still held open by "));
    assert_names(worker);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_end_was_told),   TEST(an_idle_server_is_left_alone), TEST(nothing_was_read),
        TEST(the_first_has_gone), TEST(the_report_is_asked_for),
    };
    fx_rules(&rules, ENDING);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fx_done(&rules);
    return failed;
}
