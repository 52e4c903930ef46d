#include "ingest_fixture.h"
#include <time.h>

/* Fields that a row leaves out must be what a line without a prefix has. */
struct row {
    const char *line, *body, *label, *host;
    double time;
    bool boot, zoned, no_year;
    int rank;
    long pid;
    char level;
    bool syslog;
};
#define NO_TIME .time = -1
#define NO_RANK .rank = -1
#define NO_PID .pid = -1

static double now;

static void check(const struct row *r, enum dg_kind kind) {
    struct dg_prefix p;
    dg_prefix_parse(dg_cstr(r->line), kind, &p);
    print_message("    %s\n", r->line);
    assert_slice(p.body, r->body);
    assert_slice(p.label, r->label ? r->label : "");
    assert_slice(p.host, r->host ? r->host : "");
    assert_int_equal(p.rank, r->rank);
    assert_int_equal(p.pid, r->pid);
    assert_int_equal(p.level, r->level);
    assert_int_equal(p.syslog, r->syslog);
    assert_int_equal(p.boot_clock, r->boot);
    assert_int_equal(p.zone_stated, r->zoned);
    assert_int_equal(p.year_missing, r->no_year);
    if (r->time < 0) {
        assert_true(isnan(p.time));
    } else if (r->no_year) { /* which year it is depends on today: the last one that is not ahead */
        assert_true(p.time <= now + 86400 && p.time > now - 366 * 86400.0);
        double off = fmod(fabs(p.time - r->time), 86400);
        assert_true(off < 1e-3 || off > 86400 - 1e-3);
    } else {
        assert_true(fabs(p.time - r->time) < 1e-5);
    }
}

/* Times as epochs: 2026-03-07T10:00:00Z, and days for those without a year. */
#define MARCH 1772877600.0

static const struct row servers[] = {
    {"", "", NO_TIME, NO_RANK, NO_PID},
    {"RuntimeError: CUDA error", "RuntimeError: CUDA error", NO_TIME, NO_RANK, NO_PID},
    {"    raise RuntimeError(msg)", "    raise RuntimeError(msg)", NO_TIME, NO_RANK, NO_PID},
    {"message\r", "message", NO_TIME, NO_RANK, NO_PID},
    /* uvicorn: the message begins in a fixed column */
    {"INFO:     Application startup complete.", "Application startup complete.", NO_TIME, NO_RANK, NO_PID,
     .level = 'I'},
    {"ERROR:    ValueError: x", "ValueError: x", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    {"ERROR:      File \"x\", line 1, in f", "  File \"x\", line 1, in f", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    {"WARNING:  x", "x", NO_TIME, NO_RANK, NO_PID, .level = 'W'},
    {"ERROR:   x", "ERROR:   x", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    {"ERROR:", "ERROR:", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    {"ERROR: pip failed", "ERROR: pip failed", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    /* vLLM */
    {"ERROR 03-07 10:00:00 [core.py:843] Traceback", "Traceback", .time = MARCH, .no_year = true, NO_RANK, NO_PID,
     .level = 'E'},
    {"ERROR 03-07 10:00:00 [core.py:843]   File \"x\"", "  File \"x\"", .time = MARCH, .no_year = true, NO_RANK, NO_PID,
     .level = 'E'},
    {"INFO 03-07 10:00:00 [v1/engine/core.py:93]", "", .time = MARCH, .no_year = true, NO_RANK, NO_PID, .level = 'I'},
    {"INFO 03-07 10:00:00 api_server.py:712] vLLM", "vLLM", .time = MARCH, .no_year = true, NO_RANK, NO_PID,
     .level = 'I'},
    {"CRITICAL 03-07 10:00:00.5 [x.py:1] dead", "dead", .time = MARCH + 0.5, .no_year = true, NO_RANK, NO_PID,
     .level = 'F'},
    {"(EngineCore_DP0 pid=339) ERROR 03-07 10:00:00 [core.py:843] x", "x", .label = "EngineCore_DP0", .time = MARCH,
     .no_year = true, NO_RANK, .pid = 339, .level = 'E'},
    {"(Worker_TP3 pid=411) x", "x", .label = "Worker_TP3", NO_TIME, .rank = 3, .pid = 411},
    {"(Worker_DP1_TP0_EP4 pid=411)   File", "  File", .label = "Worker_DP1_TP0_EP4", NO_TIME, .rank = 0, .pid = 411},
    {"(VllmWorker rank=2 pid=625) x", "x", .label = "VllmWorker", NO_TIME, .rank = 2, .pid = 625},
    {"(EngineCore pid=902)", "", .label = "EngineCore", NO_TIME, NO_RANK, .pid = 902},
    {"(see below) x", "(see below) x", NO_TIME, NO_RANK, NO_PID},
    /* Ray */
    {"(RayWorkerWrapper pid=123, ip=10.0.0.1) ERROR x", "ERROR x", .label = "RayWorkerWrapper", .host = "10.0.0.1",
     NO_TIME, NO_RANK, .pid = 123},
    {"(raylet) x", "x", .label = "raylet", NO_TIME, NO_RANK, NO_PID},
    {"(raylet) [2026-03-07 10:00:00,500 E 2190 2191] (raylet) node_manager.cc:3035: 2 Workers",
     "node_manager.cc:3035: 2 Workers", .label = "raylet", .time = MARCH + 0.5, NO_RANK, .pid = 2190, .level = 'E'},
    {"2026-03-07 10:00:00,662\tINFO worker.py:1673 -- Started", "Started", .time = MARCH + 0.662, NO_RANK, NO_PID,
     .level = 'I'},
    /* SGLang */
    {"[2026-03-07 10:00:00] server_args=ServerArgs(", "server_args=ServerArgs(", .time = MARCH, NO_RANK, NO_PID},
    {"[2026-03-07 10:00:00 TP5] Load", "Load", .label = "TP5", .time = MARCH, .rank = 5, NO_PID},
    {"[2026-03-07 10:00:00 DP0 TP5 EP5]   File", "  File", .label = "DP0 TP5 EP5", .time = MARCH, .rank = 5, NO_PID},
    {"[2026-03-07 10:00:00] INFO config.py:54: PyTorch", "PyTorch", .time = MARCH, NO_RANK, NO_PID, .level = 'I'},
    /* torch */
    {"[rank3]: Traceback", "Traceback", NO_TIME, .rank = 3, NO_PID},
    {"[rank3]:   File", "  File", NO_TIME, .rank = 3, NO_PID},
    {"[rank3]:[E307 10:00:00.122 TCPStore.cpp:106] x", "x", .time = MARCH + 0.122, .no_year = true, .rank = 3, NO_PID,
     .level = 'E'},
    {"[rank0]:W0307 10:00:00.101000 233 torch/_inductor/utils.py:1679] SMs", "SMs", .time = MARCH + 0.101,
     .no_year = true, .rank = 0, .pid = 233, .level = 'W'},
    {"[W307 10:00:00.5 ProcessGroupNCCL.cpp:1476] Warning", "Warning", .time = MARCH + 0.5, .no_year = true, NO_RANK,
     NO_PID, .level = 'W'},
    {"[default3]:  File", "  File", NO_TIME, .rank = 3, NO_PID},
    {"[default0]:[rank0]: x", "x", NO_TIME, .rank = 0, NO_PID},
    /* TensorRT-LLM */
    {"[03/07/2026-10:00:00] [TRT-LLM] [E] x", "x", .time = MARCH, NO_RANK, NO_PID, .level = 'E'},
    {"[03/07/2026-10:00:00] [TRT-LLM] [RANK 3] [I] x", "x", .time = MARCH, .rank = 3, NO_PID, .level = 'I'},
    {"[03/07/2026-10:00:00] [TRT] [I] [MemUsageChange] Init", "[MemUsageChange] Init", .time = MARCH, NO_RANK, NO_PID,
     .level = 'I'},
    {"[TensorRT-LLM][ERROR] x", "x", NO_TIME, NO_RANK, NO_PID, .level = 'E'},
    {"[TensorRT-LLM] TensorRT-LLM version: 1.0", "[TensorRT-LLM] TensorRT-LLM version: 1.0", NO_TIME, NO_RANK, NO_PID},
    /* Python's logging and its kin */
    {"2026-03-07 10:00:00,123 - name - ERROR - msg", "msg", .time = MARCH + 0.123, NO_RANK, NO_PID, .level = 'E'},
    {"2026-03-07T12:00:00+02:00 - a.b.c - INFO - msg", "msg", .time = MARCH, .zoned = true, NO_RANK, NO_PID,
     .level = 'I'},
    {"2026-03-07 10:00:00 INFO: msg", "msg", .time = MARCH, NO_RANK, NO_PID, .level = 'I'},
    {"2026-03-07 10:00:00.000 | ERROR    | mod:fn:12 - msg", "msg", .time = MARCH, NO_RANK, NO_PID, .level = 'E'},
    {"2026-03-07 10:00:00 Loading: 5", "Loading: 5", .time = MARCH, NO_RANK, NO_PID},
    {"[2026-03-07 10:00:00,123] [INFO] [real.py:203:get] msg", "msg", .time = MARCH + 0.123, NO_RANK, NO_PID,
     .level = 'I'},
    {"[2026-03-07 10:00:00 +0000] [7] [INFO] msg", "msg", .time = MARCH, NO_RANK, .pid = 7, .level = 'I'},
    /* glog, klog, TensorFlow */
    {"E0307 10:00:00.123456 12345 file.cc:33] msg", "msg", .time = MARCH + 0.123456, .no_year = true, NO_RANK,
     .pid = 12345, .level = 'E'},
    {"I0307 10:00:00.1   77 file.go:33] \"msg\"", "\"msg\"", .time = MARCH + 0.1, .no_year = true, NO_RANK, .pid = 77,
     .level = 'I'},
    {"2026-03-07 10:00:00.500000: W external/xla/x.cc:64] msg", "msg", .time = MARCH + 0.5, NO_RANK, NO_PID,
     .level = 'W'},
    /* TGI */
    {"2026-03-07T10:00:00.5Z ERROR name: src/file.rs:12: msg", "msg", .time = MARCH + 0.5, .zoned = true, NO_RANK,
     NO_PID, .level = 'E'},
    {"2026-03-07T10:00:00.5Z  INFO text_generation_launcher: msg", "text_generation_launcher: msg", .time = MARCH + 0.5,
     .zoned = true, NO_RANK, NO_PID, .level = 'I'},
    /* NCCL */
    {"gpu-1:4242:4250 [3] NCCL WARN Call to connect failed", "NCCL WARN Call to connect failed", .host = "gpu-1",
     NO_TIME, .rank = 3, .pid = 4242, .level = 'W'},
    {"gpu-1:4242:4250 [3] init.cc:512 NCCL WARN x", "NCCL WARN x", .host = "gpu-1", NO_TIME, .rank = 3, .pid = 4242,
     .level = 'W'},
    {"a:1:2 [3] other", "a:1:2 [3] other", NO_TIME, NO_RANK, NO_PID},
    /* Ollama, logrus, llama.cpp */
    {"time=2026-03-07T10:00:00.114Z level=ERROR source=server.go:421 msg=\"dead\" error=\"x\"",
     "msg=\"dead\" error=\"x\"", .time = MARCH + 0.114, .zoned = true, NO_RANK, NO_PID, .level = 'E'},
    {"time=\"2026-03-07T12:00:00+02:00\" level=debug msg=\"x\"", "msg=\"x\"", .time = MARCH, .zoned = true, NO_RANK,
     NO_PID, .level = 'D'},
    {"0.00.035.060 W load: x", "load: x", NO_TIME, NO_RANK, NO_PID, .level = 'W'},
    {"[1;36m(APIServer pid=1)[0;0m INFO 03-07 10:00:00 [x.py:1] y", "y", .label = "APIServer", .time = MARCH,
     .no_year = true, NO_RANK, .pid = 1, .level = 'I'},
};

static const struct row wrapped[] = {
    {"vllm-1  | INFO 03-07 10:00:00 [x.py:1] y", "y", .label = "vllm-1", .time = MARCH, .no_year = true, NO_RANK,
     NO_PID, .level = 'I'},
    {"vllm-1  |", "", .label = "vllm-1", NO_TIME, NO_RANK, NO_PID},
    {"[sglang]     | [2026-03-07 10:00:00 TP1] y", "y", .label = "TP1", .time = MARCH, .rank = 1, NO_PID},
    {"system_info: n_threads = 16  | CUDA", "system_info: n_threads = 16  | CUDA", NO_TIME, NO_RANK, NO_PID},
    {"2026-03-07T10:00:00.123456789Z stdout F (Worker_TP1 pid=5) y", "y", .label = "Worker_TP1",
     .time = MARCH + 0.123456789, .zoned = true, .rank = 1, .pid = 5},
    {"2026-03-07T12:00:00.1+02:00 stderr P   y", "  y", .time = MARCH + 0.1, .zoned = true, NO_RANK, NO_PID},
    {"2026-03-07T10:00:00Z stdout F ERROR: y", "ERROR: y", .time = MARCH, .zoned = true, NO_RANK, NO_PID, .level = 'E'},
    {"2026-03-07T10:00:00Z stdout F", "", .time = MARCH, .zoned = true, NO_RANK, NO_PID},
    {"2026-03-07T10:00:00.123456789Z Loading weights: 50%", "Loading weights: 50%", .time = MARCH + 0.123456789,
     .zoned = true, NO_RANK, NO_PID},
    {"[pod/vllm-0/vllm] y", "y", .label = "pod/vllm-0/vllm", NO_TIME, NO_RANK, NO_PID},
    {"[Stage-0] y", "y", .label = "Stage-0", NO_TIME, NO_RANK, NO_PID},
    {"[Stage-two] y", "[Stage-two] y", .label = "", NO_TIME, NO_RANK, NO_PID},
    {"3: y", "y", NO_TIME, .rank = 3, NO_PID},
    {"12:30 y", "12:30 y", NO_TIME, NO_RANK, NO_PID},
    {"[1,3]<stdout>:y", "y", NO_TIME, .rank = 3, NO_PID},
    {"[1,3]<stderr>:  File", "  File", NO_TIME, .rank = 3, NO_PID},
    {"Mar 07 10:00:00 node-3 python3[4242]: y", "y", .label = "python3", .host = "node-3", .time = MARCH,
     .no_year = true, NO_RANK, .pid = 4242, .syslog = true},
    {"Mar  7 10:00:00 node-3 python3[4242]: ERROR: y", "ERROR: y", .label = "python3", .host = "node-3", .time = MARCH,
     .no_year = true, NO_RANK, .pid = 4242, .level = 'E', .syslog = true},
    {"Mar 07 10:00:00 node-3 python3[4242]: (Worker_TP1 pid=5) y", "y", .label = "Worker_TP1", .host = "node-3",
     .time = MARCH, .no_year = true, .rank = 1, .pid = 5},
    {"Mar 07 10:00:00 node-3 systemd[1]: y", "y", .label = "systemd", .host = "node-3", .time = MARCH, .no_year = true,
     NO_RANK, .pid = 1, .syslog = true},
    {"2026-03-07T12:00:00+0200 node-3 python3[4242]: y", "y", .label = "python3", .host = "node-3", .time = MARCH,
     .zoned = true, NO_RANK, .pid = 4242, .syslog = true},
    {"Sat 2026-03-07 10:00:00 UTC node-3 python3[4242]: y", "y", .label = "python3", .host = "node-3", .time = MARCH,
     .zoned = true, NO_RANK, .pid = 4242, .syslog = true},
    {"1772877600.250000 node-3 python3[4242]: y", "y", .label = "python3", .host = "node-3", .time = MARCH + 0.25,
     .zoned = true, NO_RANK, .pid = 4242, .syslog = true},
    {"Mar 07 10:00:00 node-3 vllm[9]: time=2026-03-07T10:00:00.1Z level=WARN source=a.go:1 msg=y", "msg=y",
     .label = "vllm", .host = "node-3", .time = MARCH, .no_year = true, NO_RANK, .pid = 9, .level = 'W',
     .syslog = true},
    {"3: vllm-1  | (RayWorkerWrapper pid=7, ip=10.0.0.9) [rank2]: y", "y", .label = "RayWorkerWrapper",
     .host = "10.0.0.9", NO_TIME, .rank = 2, .pid = 7},
};

/* The forms of a kernel log, in the order of the table that lists them. */
static const struct row kernels[] = {
    {"[  199.234935] NVRM: x", "NVRM: x", .time = 199.234935, .boot = true, NO_RANK, NO_PID},
    {"[6781741.548768] NVRM: x", "NVRM: x", .time = 6781741.548768, .boot = true, NO_RANK, NO_PID},
    {"[  130.456250] [   T1946] x", "x", .time = 130.45625, .boot = true, NO_RANK, .pid = 1946},
    {"[  130.456250] [    C12] x", "x", .time = 130.45625, .boot = true, NO_RANK, NO_PID},
    {"[Sat Mar  7 10:00:00 2026] x", "x", .time = MARCH, NO_RANK, NO_PID},
    {"[Sat Mar 07 10:00:00 2026] [   T12] [1184213]  1000 x", "[1184213]  1000 x", .time = MARCH, NO_RANK, .pid = 12},
    {"[\345\205\255 3\346\234\210  7 10:00:00 2026] x", "x", .time = MARCH, NO_RANK, NO_PID},
    {"[Sa M\303\244r  7 10:00:00 2026] x", "x", .time = MARCH, NO_RANK, NO_PID},
    {"2026-03-07T10:00:00,283302+00:00 x", "x", .time = MARCH + 0.283302, .zoned = true, NO_RANK, NO_PID},
    {"kern  :warn  : 2026-03-07T10:00:00,283302+00:00 x", "x", .time = MARCH + 0.283302, .zoned = true, NO_RANK, NO_PID,
     .level = 'W'},
    {"kern  :err   : [  199.234935] x", "x", .time = 199.234935, .boot = true, NO_RANK, NO_PID, .level = 'E'},
    {"[Mar07 10:00] x", "x", .time = MARCH, .no_year = true, NO_RANK, NO_PID},
    {"[Mar 7 10:00] x", "x", .time = MARCH, .no_year = true, NO_RANK, NO_PID},
    {"[  +0.000127] x", "x", NO_TIME, NO_RANK, NO_PID},
    {"[<    0.000127>] x", "x", NO_TIME, NO_RANK, NO_PID},
    {"[  199.234935 <    0.000012>] x", "x", .time = 199.234935, .boot = true, NO_RANK, NO_PID},
    {"Mar 07 10:00:00 host kernel: x", "x", .label = "kernel", .host = "host", .time = MARCH, .no_year = true, NO_RANK,
     NO_PID, .syslog = true},
    {"2026-03-07T10:00:00+0000 host kernel: x", "x", .label = "kernel", .host = "host", .time = MARCH, .zoned = true,
     NO_RANK, NO_PID, .syslog = true},
    {"2026-03-07T10:00:00.230422+00:00 host kernel: x", "x", .label = "kernel", .host = "host",
     .time = MARCH + 0.230422, .zoned = true, NO_RANK, NO_PID, .syslog = true},
    {"Mar  7 10:00:00 worker4 kernel: [  199.234935] x", "x", .label = "kernel", .host = "worker4", .time = MARCH,
     .no_year = true, NO_RANK, NO_PID, .syslog = true},
    {"[  199.234935] worker4 kernel: x", "x", .label = "kernel", .host = "worker4", .time = 199.234935, .boot = true,
     NO_RANK, NO_PID, .syslog = true},
    {"6,3964,206764307,-;x", "x", .time = 206.764307, .boot = true, NO_RANK, NO_PID, .level = 'I'},
    {"3,1,5,-,caller=T1;x;y", "x;y", .time = 0.000005, .boot = true, NO_RANK, NO_PID, .level = 'E'},
    {"<4>[  201.650000] x", "x", .time = 201.65, .boot = true, NO_RANK, NO_PID, .level = 'W'},
    {"10.5.0.23: kern: warning: [2026-03-07T10:00:00.291882381Z]: NVRM: x", "NVRM: x", .host = "10.5.0.23",
     .time = MARCH + 0.291882381, .zoned = true, NO_RANK, NO_PID, .level = 'W'},
    {"10.5.0.23: kern:    info: [2026-03-07T10:00:00Z]: x", "x", .host = "10.5.0.23", .time = MARCH, .zoned = true,
     NO_RANK, NO_PID, .level = 'I'},
    {"kernel: NVRM: Xid", "NVRM: Xid", .label = "kernel", NO_TIME, NO_RANK, NO_PID, .syslog = true},
    {" kernel:[405108.698255] watchdog: x", "watchdog: x", .label = "kernel", .time = 405108.698255, .boot = true,
     NO_RANK, NO_PID, .syslog = true},
    {"m\303\244rz 7 10:00:00 host kernel: x", "x", .label = "kernel", .host = "host", .time = MARCH, .no_year = true,
     NO_RANK, NO_PID, .syslog = true},
    {"march 07 10:00:00 host kernel: x", "x", .label = "kernel", .host = "host", .time = MARCH, .no_year = true,
     NO_RANK, NO_PID, .syslog = true},
    /* messages that only look like a front */
    {"[    3.000184] rtc_cmos 00:03: setting", "rtc_cmos 00:03: setting", .time = 3.000184, .boot = true, NO_RANK,
     NO_PID},
    {"[    3.000184] usb 1-1: new device", "usb 1-1: new device", .time = 3.000184, .boot = true, NO_RANK, NO_PID},
    {"[    3.000184] ERROR: x", "ERROR: x", .time = 3.000184, .boot = true, NO_RANK, NO_PID, .level = 'E'},
    {"[Sat Mar 07 10:00:00 2026] ERROR: x", "ERROR: x", .time = MARCH, NO_RANK, NO_PID, .level = 'E'},
    {"[drm] Initialized", "[drm] Initialized", NO_TIME, NO_RANK, NO_PID},
};

static void knows_servers(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(servers); i++) check(&servers[i], DG_KIND_SERVER);
}

static void knows_wrappings(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(wrapped); i++) check(&wrapped[i], DG_KIND_SERVER);
}

static void knows_kernel_forms(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(kernels); i++) check(&kernels[i], DG_KIND_KERNEL);
}

static void knows_loader(void **state) {
    (void)state;
    check(&(struct row){"     48211:\tfind library=x", "find library=x", NO_TIME, NO_RANK, .pid = 48211},
          DG_KIND_LOADER);
}

/* A message reads the same in any clothes. */
static void unwraps_alike(void **state) {
    (void)state;
    static const char *const fronts[] = {"vllm-1  | ",
                                         "2026-03-07T11:00:00.000000001Z stdout F ",
                                         "Mar 07 11:00:00 node-3 python3[4242]: ",
                                         "0: ",
                                         "[default1]:",
                                         "2026-03-07T11:00:00.123456+00:00 n python3[1]: ",
                                         "(RayWorkerWrapper pid=1, ip=1.2.3.4) "};
    for (size_t i = 0; i < DG_COUNT(servers); i++) {
        for (size_t k = 0; k < DG_COUNT(fronts); k++) {
            char line[512];
            struct dg_prefix p;
            snprintf(line, sizeof(line), "%s%s", fronts[k], servers[i].line);
            dg_prefix_parse(dg_cstr(line), DG_KIND_SERVER, &p);
            if (!dg_slice_is(p.body, servers[i].body)) fail_msg("%s: '%.*s'", line, DG_FMT(p.body));
            assert_int_equal(p.level, servers[i].level);
        }
    }
}

/* The outermost clock is the one that all lines of a source share. */
static void keeps_the_outer_time(void **state) {
    (void)state;
    check(&(struct row){"2026-03-07T10:00:00Z stdout F [2001-01-01 00:00:00 TP1] x", "x", .label = "TP1", .time = MARCH,
                        .zoned = true, .rank = 1, NO_PID},
          DG_KIND_SERVER);
}

/* Behind a wall clock the seconds since boot are told as well. */
static void tells_both_clocks(void **state) {
    (void)state;
    struct dg_prefix p;
    dg_prefix_parse(DG_S("Dec  2 11:38:27 worker4 kernel: [  199.234935] x"), DG_KIND_KERNEL, &p);
    assert_true(fabs(p.boot - 199.234935) < 1e-9 && !p.boot_clock && p.year_missing);
    dg_prefix_parse(DG_S("no time"), DG_KIND_KERNEL, &p);
    assert_true(isnan(p.boot));
}

/* The year that a line lacks is never one that lies ahead, also on New Year's Eve. */
static void assumes_no_future(void **state) {
    (void)state;
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int m = 0; m < 12; m++) {
        char line[64];
        struct dg_prefix p;
        snprintf(line, sizeof(line), "%.3s 28 23:59:59 h kernel: x", months + 3 * m);
        dg_prefix_parse(dg_cstr(line), DG_KIND_KERNEL, &p);
        assert_true(p.time <= now + 86400 && p.time > now - 366 * 86400.0);
    }
    struct dg_prefix p;
    dg_prefix_parse(DG_S("Feb 29 12:00:00 h kernel: x"), DG_KIND_KERNEL, &p); /* up to eight years ago */
    assert_true(p.time <= now + 86400 && p.time > now - 8.01 * 366 * 86400.0);
    dg_prefix_parse(DG_S("Feb 31 12:00:00 h kernel: x"), DG_KIND_KERNEL, &p);
    assert_true(isnan(p.time));
    assert_slice(p.body, "x");
}

/* Any bytes, of any length, at the end of memory that may be read. */
static void takes_any_bytes(void **state) {
    (void)state;
    unsigned seed = 1;
    for (size_t i = 0; i < DG_COUNT(servers) + DG_COUNT(wrapped) + DG_COUNT(kernels); i++) {
        const struct row *r = i < DG_COUNT(servers) ? &servers[i]
                              : i < DG_COUNT(servers) + DG_COUNT(wrapped)
                                  ? &wrapped[i - DG_COUNT(servers)]
                                  : &kernels[i - DG_COUNT(servers) - DG_COUNT(wrapped)];
        size_t n = strlen(r->line);
        for (size_t cut = 0; cut <= n; cut++) {
            char *exact = malloc(cut ? cut : 1);
            assert_non_null(exact);
            memcpy(exact, r->line, cut);
            for (int change = 0; change < 8; change++) {
                struct dg_prefix p;
                dg_prefix_parse(dg_slice(exact, cut), (enum dg_kind)(change % DG_KIND_COUNT), &p);
                assert_true(p.body.ptr >= exact && p.body.ptr + p.body.len <= exact + cut);
                seed = seed * 1103515245 + 12345;
                if (cut) exact[seed / 65536 % cut] = (char)(seed >> 24);
            }
            free(exact);
        }
    }
    struct dg_prefix p;
    dg_prefix_parse(dg_slice(NULL, 0), DG_KIND_UNKNOWN, &p);
    assert_int_equal(p.body.len, 0);
}

/* Each form again and again: the loop ends, and the rest is the message. */
static void ends_deep_nesting(void **state) {
    (void)state;
    char line[4096] = "";
    for (int i = 0; i < 400; i++) strcat(line, "[rank1]: ");
    struct dg_prefix p;
    dg_prefix_parse(dg_cstr(line), DG_KIND_SERVER, &p);
    assert_true(p.body.len > 0 && p.rank == 1);
}

int main(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    now = dg_time_now();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_servers),      cmocka_unit_test(knows_wrappings),
        cmocka_unit_test(knows_kernel_forms), cmocka_unit_test(knows_loader),
        cmocka_unit_test(unwraps_alike),      cmocka_unit_test(keeps_the_outer_time),
        cmocka_unit_test(tells_both_clocks),  cmocka_unit_test(assumes_no_future),
        cmocka_unit_test(takes_any_bytes),    cmocka_unit_test(ends_deep_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
