#include "ingest_fixture.h"
#include "ingest/clock.h"
#include "ingest/stamp.h"
#include <time.h>

#define DMESG "[    1.000000] Linux version 6.8.0\n[    2.000000] NVRM: loading\n"
#define VLLM "INFO 03-07 10:00:01 [api_server.py:1] vLLM API server version 0.11.0\n"

static const struct {
    enum dg_kind kind;
    const char *text;
} kinds[] = {
    /* every form of a kernel log */
    {DG_KIND_KERNEL, "[  199.234935] eth0: link\n"},
    {DG_KIND_KERNEL, "[  130.456250] [   T1946] eth0: link\n"},
    {DG_KIND_KERNEL, "[Sun Feb 23 16:24:18 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[\345\233\233 3\346\234\210 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[Do M\303\244r 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[jeu. mars  6 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[\346\234\250  3\346\234\210 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[\353\252\251  3\354\233\224 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[\320\247\321\202 \320\274\320\260\321\200 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "[czw mar 20 21:01:25 2025] eth0: link\n"},
    {DG_KIND_KERNEL, "2025-01-21T04:41:44,283302+00:00 eth0: link\n"},
    {DG_KIND_KERNEL, "kern  :warn  : 2025-01-21T04:41:44,283302+00:00 eth0: link\n"},
    {DG_KIND_KERNEL, "[May19 19:57] eth0: link\n[  +0.000127] eth0: up\n"},
    {DG_KIND_KERNEL, "Mar 05 23:33:35 host kernel: eth0: link\n"},
    {DG_KIND_KERNEL, "2025-06-02T12:32:53+0000 host kernel: eth0: link\n"},
    {DG_KIND_KERNEL, "2025-06-02T12:32:53.230422+00:00 host kernel: eth0: link\n"},
    {DG_KIND_KERNEL, "Dec  2 11:38:27 worker4 kernel: [  199.234935] eth0: link\n"},
    {DG_KIND_KERNEL, "6,3964,206764307,-;eth0: link\n SUBSYSTEM=net\n"},
    {DG_KIND_KERNEL, "Panic#1 Part1\n<4>[  201.650000] eth0: link\n<4>[  201.650001] eth0: link\n"},
    {DG_KIND_KERNEL, "10.5.0.23: kern: warning: [2026-04-22T21:27:51.291882381Z]: eth0: link\n"},
    {DG_KIND_KERNEL, "kernel: NVRM: Xid\n"},
    {DG_KIND_KERNEL,
     "Message from syslogd@host at Jun 17 13:06:42 ...\n kernel:[405108.698255] watchdog: BUG\n kernel:[405109.698255] watchdog: BUG\n"},
    {DG_KIND_KERNEL, "april 24 16:22:15 host kernel: eth0: link\n"},
    {DG_KIND_KERNEL, "NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n"},
    {DG_KIND_KERNEL, "\x1b[32m[    1.000000] \x1b[0m\x1b[33musb\x1b[0m: new\n"},
    {DG_KIND_KERNEL,
     "{\"_TRANSPORT\":\"kernel\",\"__REALTIME_TIMESTAMP\":\"1772881201000000\",\"MESSAGE\":\"eth0: link\"}\n"},
    /* a server's, also one that holds some of the kernel's lines */
    {DG_KIND_SERVER, VLLM},
    {DG_KIND_SERVER, VLLM VLLM VLLM DMESG},
    {DG_KIND_SERVER, "[2026-03-07 10:00:00 TP0] Load weight begin\n"},
    {DG_KIND_SERVER, "[03/07/2026-10:00:00] [TRT-LLM] [I] x\n"},
    {DG_KIND_SERVER, "ggml_cuda_init: found 1 CUDA devices:\n"},
    {DG_KIND_SERVER, "time=2026-03-07T10:00:00Z level=INFO source=a.go:1 msg=x\n"},
    {DG_KIND_SERVER, "2026-03-07T10:00:00Z  INFO text_generation_launcher: x\n"},
    {DG_KIND_SERVER, "I0307 10:00:00.1 1 server.cc:630] x\n"},
    {DG_KIND_SERVER, "Traceback (most recent call last):\n  File \"x\", line 1\nRuntimeError: x\n"},
    {DG_KIND_SERVER, "INFO:     Application startup complete.\n"},
    {DG_KIND_SERVER, "2026-03-07T11:00:00Z stdout F " VLLM},
    {DG_KIND_SERVER, "Mar 07 11:00:00 node-3 python3[4242]: " VLLM},
    {DG_KIND_SERVER,
     "{\"log\":\"INFO:     Started server process [1]\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00Z\"}\n"},
    {DG_KIND_SERVER, VLLM VLLM VLLM
     "FAILED: a.o\n/usr/local/cuda/bin/nvcc -c a.cu\na.cu(1): error: x\nninja: build stopped: subcommand failed.\n"},
    /* a journal that mixes, by who serves in it */
    {DG_KIND_SERVER,
     "Mar 07 11:00:00 h kernel: a\nMar 07 11:00:00 h kernel: b\nMar 07 11:00:00 h ollama[9]: time=2026-03-07T10:00:00Z level=INFO source=a.go:1 msg=x\n"},
    {DG_KIND_SERVER,
     "Mar 07 11:00:00 h kernel: a\nMar 07 11:00:00 h ollama[9]: ggml_cuda_init: x\nMar 07 11:00:00 h ollama[9]: time=2026-03-07T10:00:00Z level=INFO source=a.go:1 msg=x\n"},
    /* the others */
    {DG_KIND_LOADER,
     "\tlinux-vdso.so.1 (0x00007ffd7a1f2000)\n\tlibcudart.so.12 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f2a28200000)\n"},
    {DG_KIND_LOADER,
     "     48211:\tfind library=libcudart.so.13 [0]; searching\n     48211:\t search cache=/etc/ld.so.cache\n"},
    {DG_KIND_LOADER, "python3: error while loading shared libraries: libcuda.so.1: cannot open shared object file\n"},
    {DG_KIND_BUILD, "[1/12] /usr/local/cuda/bin/nvcc -c a.cu\nFAILED: a.o\nninja: build stopped: subcommand failed.\n"},
    {DG_KIND_BUILD, "-- Configuring incomplete, errors occurred!\nCMake Error at CMakeLists.txt:3\n"},
    {DG_KIND_BUILD, "a.c:1:10: fatal error: Python.h: No such file or directory\n"},
    {DG_KIND_CONTAINER, "docker: Error response from daemon: could not select device driver\n"},
    {DG_KIND_CONTAINER,
     "Name:             vllm-0\nNamespace:        tools\nStatus:           Running\nContainers:\n  vllm:\n    Last State:     Terminated\n      Exit Code:    137\n"},
    {DG_KIND_CONTAINER,
     "Jul 14 16:24:40 h kubelet[2291]: I0714 16:24:40.110394    2291 prober.go:107] \"Probe failed\"\nJul 14 16:24:51 h containerd[1893]: time=\"2025-07-14T16:24:51Z\" level=info msg=\"Exec\"\n"},
    {DG_KIND_CONTAINER, "low 0\nhigh 0\nmax 123\noom 4\noom_kill 4\n"},
    {DG_KIND_CONTAINER,
     "[\n    {\n        \"State\": {\n            \"OOMKilled\": true,\n            \"ExitCode\": 137,\n"},
    {DG_KIND_CONTAINER, " Network tgi_default  Created\n Container tgi-1  Creating\n Container tgi-1  Started\n"},
    {DG_KIND_CONTAINER, "Mar 14 23:28:45 h kubelet[3]: x\nMar 14 23:28:46 h dockerd[4]: y\n"},
    {DG_KIND_SCHEDULER, "JobID           JobName      State ExitCode\n123             vllm    OUT_OF_ME+    0:125\n"},
    {DG_KIND_SCHEDULER,
     "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\nsrun: error: n1: task 0: Out Of Memory\n"},
    {DG_KIND_SCHEDULER, "Mar 14 23:28:45 h systemd[1]: Started session\nMar 14 23:28:46 h sshd[4]: x\n"},
    {DG_KIND_ENVIRONMENT, "torch==2.9.0\nvllm==0.11.0\nnvidia-cuda-runtime-cu12==12.8.90\npkg @ file:///x\n"},
    {DG_KIND_ENVIRONMENT,
     "INFO 03-07 10:00:01 [__init__.py:239] Automatically detected platform cuda.\nCollecting environment information...\nPyTorch version: 2.9.0\nIs debug build: False\nCUDA used to build PyTorch: 12.8\n[pip3] torch==2.9.0\n"},
    {DG_KIND_ENVIRONMENT,
     "+-----+\n| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0 |\n|=====+\n"},
    {DG_KIND_UNKNOWN, "It was a dark and stormy night.\n\nThe rain fell in torrents.\n"},
    {DG_KIND_UNKNOWN, "\0\1\2\377\376"},
};

static void knows_kinds(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(kinds); i++) {
        struct dg_ingest *in;
        struct got g = read_bytes(dg_cstr(kinds[i].text), &in);
        if (source_at(in, 0)->kind != kinds[i].kind)
            fail_msg("%s: %s, not %s", kinds[i].text, dg_kind_name(source_at(in, 0)->kind),
                     dg_kind_name(kinds[i].kind));
        got_release(&g);
        dg_ingest_free(in);
    }
}

/* The name of a file says nothing, and what was stated is not questioned. */
static void stated_kinds_stay(void **state) {
    (void)state;
    struct dg_ingest *in;
    struct got g = read_text(DG_S(VLLM), DG_KIND_KERNEL, &in);
    assert_int_equal(source_at(in, 0)->kind, DG_KIND_KERNEL);
    got_release(&g);
    dg_ingest_free(in);
}

static const struct dg_source *read_one(const char *text, struct dg_ingest **ret) {
    struct got g = read_text(dg_cstr(text), DG_KIND_UNKNOWN, ret);
    got_release(&g);
    return source_at(*ret, 0);
}

static void assert_near(double got, double want) {
    if (!(fabs(got - want) < 1e-3)) fail_msg("%.6f, not %.6f", got, want);
}

#define MARCH 1772877600.0 /* 2026-03-07T10:00:00Z */

static void tells_times_and_host(void **state) {
    (void)state;
    struct dg_ingest *in;
    const struct dg_source *s = read_one(
        "no time here\n2026-03-07T10:00:00Z stdout F x\n2026-03-07T10:05:00.5Z stdout F y\nno time either\n", &in);
    assert_near(s->first_time, MARCH);
    assert_near(s->last_time, MARCH + 300.5);
    assert_int_equal(s->time_basis, DG_TIME_BASIS_STATED);
    assert_null(s->hostname);
    dg_ingest_free(in);
    s = read_one("[2026-03-07 10:00:00 TP0] x\nnode-7:1:2 [0] NCCL INFO y\n", &in);
    assert_near(s->first_time, MARCH);
    assert_near(s->last_time, MARCH);
    assert_int_equal(s->time_basis, DG_TIME_BASIS_ASSUMED);
    assert_string_equal(s->hostname, "node-7");
    dg_ingest_free(in);
    s = read_one("nothing\n", &in);
    assert_true(isnan(s->first_time) && isnan(s->last_time) && isnan(s->boot_epoch));
    assert_int_equal(s->time_basis, DG_TIME_BASIS_NONE);
    dg_ingest_free(in);
}

/* A line that lacks the year takes it from lines that have one. */
static void finds_the_year(void **state) {
    (void)state;
    struct dg_ingest *in;
    const struct dg_source *s = read_one("W0307 10:00:00.5 7 a.py:1] x\n[2019-03-07 10:00:02] y\n", &in);
    assert_near(s->first_time, dg_time_utc(2019, 3, 7, 10, 0, 0.5));
    assert_near(s->last_time, dg_time_utc(2019, 3, 7, 10, 0, 2));
    dg_ingest_free(in);
    /* the year stands behind the journal's own stamp, which is the clock of all lines */
    s = read_one(
        "Mar 07 11:00:00 h ollama[9]: time=2019-03-07T10:00:00Z level=INFO source=a.go:1 msg=x\nMar 07 11:00:09 h ollama[9]: y\n",
        &in);
    assert_near(s->first_time, dg_time_utc(2019, 3, 7, 11, 0, 0));
    assert_near(s->last_time, dg_time_utc(2019, 3, 7, 11, 0, 9));
    dg_ingest_free(in);
}

static void aligns_the_boot_clock(void **state) {
    (void)state;
    struct dg_ingest *in;
    const struct dg_source *s =
        read_one("[    3.000184] rtc_cmos 00:03: setting system clock to 2025-11-09T07:40:03 UTC (1762674003)\n"
                 "[   10.500000] audit: type=1400 audit(1762674010.600:2): apparmor\n[  100.250000] last\n",
                 &in);
    assert_near(s->boot_epoch, ((1762674003 - 3.000184) + (1762674010.6 - 10.5)) / 2);
    assert_near(s->boot_spread, (1762674010.6 - 10.5) - (1762674003 - 3.000184));
    assert_true(s->boot_exact);
    assert_int_equal(s->time_basis, DG_TIME_BASIS_BOOT);
    assert_near(s->first_time, s->boot_epoch + 3.000184);
    assert_near(s->last_time, s->boot_epoch + 100.25);
    dg_ingest_free(in);
    /* both clocks on each line, no epoch said: as good as syslog's stamps */
    s = read_one(
        "2026-03-07T10:00:10+00:00 h kernel: [   10.000000] a\n2026-03-07T10:00:20+00:00 h kernel: [   20.000000] b\n",
        &in);
    assert_near(s->boot_epoch, MARCH);
    assert_false(s->boot_exact);
    assert_near(s->first_time, MARCH + 10);
    assert_int_equal(s->time_basis, DG_TIME_BASIS_STATED);
    dg_ingest_free(in);
    /* with an epoch said, the kernel's clock is better than a stamp without a year */
    s = read_one(
        "Mar  7 10:00:10 h kernel: [   10.000000] audit: type=1 audit(1552000010.000:1): x\nMar  7 10:01:00 h kernel: [   60.000000] b\n",
        &in);
    assert_true(s->boot_exact);
    assert_near(s->boot_epoch, 1552000000);
    assert_near(s->last_time, 1552000060);
    dg_ingest_free(in);
    s = read_one("[    3.000184] a\n[    4.000000] b\n", &in);
    assert_true(isnan(s->boot_epoch) && isnan(s->first_time) && isnan(s->last_time));
    assert_int_equal(s->time_basis, DG_TIME_BASIS_BOOT);
    dg_ingest_free(in);
    s = read_one("\x1b[32m[    5.000000] \x1b[0m\x1b[33maudit\x1b[0m: type=1 audit(1762674005.000:1): x\n", &in);
    assert_near(s->boot_epoch, 1762674000);
    dg_ingest_free(in);
    s = read_one("6,1,5000000,-;audit: type=1 audit(1762674005.000:1): x\n", &in);
    assert_near(s->boot_epoch, 1762674000);
    dg_ingest_free(in);
    s = read_one(
        "{\"__REALTIME_TIMESTAMP\":\"1762674005000000\",\"__MONOTONIC_TIMESTAMP\":\"5000000\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"x\"}\n",
        &in);
    assert_near(s->boot_epoch, 1762674000);
    assert_near(s->first_time, 1762674005);
    dg_ingest_free(in);
}

static void shifts_whole_years(void **state) {
    (void)state;
    double leap = dg_time_utc(2024, 2, 29, 12, 0, 0), march = dg_time_utc(2026, 3, 7, 0, 0, 0);
    assert_near(dg_stamp_year_shift(march, march + 5 * 86400), 0);
    assert_near(march + dg_stamp_year_shift(march, dg_time_utc(2023, 3, 9, 0, 0, 0)), dg_time_utc(2023, 3, 7, 0, 0, 0));
    assert_near(march + dg_stamp_year_shift(march, dg_time_utc(2031, 1, 1, 0, 0, 0)), dg_time_utc(2031, 3, 7, 0, 0, 0));
    assert_near(leap + dg_stamp_year_shift(leap, dg_time_utc(2023, 3, 1, 0, 0, 0)), dg_time_utc(2023, 2, 28, 12, 0, 0));
}

static void picks_anchors(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum dg_anchor kind;
        double boot;
    } rows[] = {
        {"[    3.500000] rtc_cmos rtc_cmos: setting system clock to 2025-11-03T02:14:08 UTC (1762136048)",
         DG_ANCHOR_EXACT, 1762136044.5},
        {"[    3.500000] audit: type=2000 audit(1762136048.250:1): state=initialized", DG_ANCHOR_EXACT, 1762136044.75},
        {"[   10.000000] mce: [Hardware Error]: PROCESSOR 0:806f8 TIME 1762136048 SOCKET 0", DG_ANCHOR_EXACT,
         1762136038},
        {"2026-03-07T10:00:10+00:00 h kernel: [   10.000000] x", DG_ANCHOR_STAMPED, MARCH},
        {"[    3.500000] audit: type=2000 audit(0.250:1): state=initialized", DG_ANCHOR_NONE, 0},
        {"[    3.500000] audit: type=2000 audit(99999999999999999999:1)", DG_ANCHOR_NONE, 0},
        {"2026-03-07T10:00:10+00:00 h kernel: x", DG_ANCHOR_NONE, 0},
        {"[    3.500000] x", DG_ANCHOR_NONE, 0},
        {"audit: type=2000 audit(1762136048.250:1)", DG_ANCHOR_NONE, 0},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        double boot = 0;
        assert_int_equal(dg_clock_anchor(dg_cstr(rows[i].line), &boot), rows[i].kind);
        assert_near(boot, rows[i].boot);
    }
}

static void settles_on_the_median(void **state) {
    (void)state;
    struct dg_clock c = {0};
    double boot = 1, spread = 2;
    assert_false(dg_clock_settle(&c, &boot, &spread));
    assert_true(boot == 1 && spread == 2);
    for (int i = 0; i < 1000; i++) dg_clock_add(&c, i < 3 ? 500 : 1000 + i * 1e-3); /* some strange ones, then drift */
    assert_true(dg_clock_settle(&c, &boot, &spread));
    assert_true(boot >= 1000 && boot <= 1001);
    assert_near(spread, 1000.999 - 500);
}

int main(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_kinds),           cmocka_unit_test(stated_kinds_stay),
        cmocka_unit_test(tells_times_and_host),  cmocka_unit_test(finds_the_year),
        cmocka_unit_test(shifts_whole_years),    cmocka_unit_test(picks_anchors),
        cmocka_unit_test(settles_on_the_median), cmocka_unit_test(aligns_the_boot_clock),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
