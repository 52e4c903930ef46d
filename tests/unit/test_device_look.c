/* The look at this machine's GPUs, in trees that stand in for /sys, /proc and /dev, with a driver that answers,
 * refuses, dies, hangs or lies. Run again by itself with the stand-in driver in the library path. */
#include "device_fixture.h"
#include "device/holders.h"
#include "device/kfd.h"
#include "device/state.h"
#include "device/why.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- without opening the driver */

static void assert_passive(enum dg_driver_state state, const char *words) {
    struct dg_passive p;
    char text[512];
    dg_device_passive(folder, &p);
    assert_int_equal(p.state, state);
    dg_why_passive(&p, text, sizeof(text));
    if (!strstr(text, words)) fail_msg("%s: not %s", text, words);
}

static void sees_what_stands_in_files(void **state) {
    (void)state;
    assert_passive(DG_DRIVER_NO_GPU, "no NVIDIA GPU");
    put_gpu("0000:01:00.0", "0x1002\n", "0x030000\n"); /* AMD's */
    put_gpu("0000:02:00.0", "", "0x030000\n");
    put_gpu("0000:03:00.0", "0x10de\n", "");
    assert_passive(DG_DRIVER_NO_GPU, "no NVIDIA GPU");
    put_gpu("0000:04:00.0", "0x10de\n", "0x030000\n");
    assert_passive(DG_DRIVER_NOT_LOADED, "1 NVIDIA GPU on the PCI bus");
    put_gpu("0000:05:00.0", "0x10de\n", "0x030200\n");
    put_gpu("0000:06:00.0", "0x10de\n", "0x068000\n");
    assert_passive(DG_DRIVER_NOT_LOADED, "2 NVIDIA GPUs on the PCI bus");
    put("sys/module/nvidia/refcnt", "0\n"); /* a module without a version */
    assert_passive(DG_DRIVER_NO_NODE, "driver (version unknown) is loaded");
    put("proc/driver/nvidia/version", "");
    assert_passive(DG_DRIVER_NO_NODE, "driver (version unknown) is loaded");
    put("proc/driver/nvidia/version", "NVRM version: of 2025 . no number\n");
    assert_passive(DG_DRIVER_NO_NODE, "driver . is loaded");
    put("proc/driver/nvidia/version", "NVRM version: of 2025, no number\n");
    put("sys/module/nvidia/version", " \n");
    assert_passive(DG_DRIVER_NO_NODE, "driver (version unknown) is loaded");
    put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 2025\n");
    assert_passive(DG_DRIVER_NO_NODE, "driver 580.65.06 is loaded");
    put("dev/nvidiactl", "");
    put("dev/nvidia3", "");
    put("dev/nvidia-uvm", "");
    put("sys/class/kfd/kfd/topology/nodes/0/properties", "");
    assert_passive(DG_DRIVER_LOADED, "the driver is loaded");
    struct dg_passive p;
    dg_device_passive(folder, &p);
    assert_true(p.pci_gpus == 2 && p.nvswitch && p.nodes == 1 && p.uvm && p.amd && !p.wsl);
    assert_string_equal(p.driver, "580.65.06");
    if (geteuid()) {
        assert_int_equal(chmod(folder_at("dev/nvidiactl"), 0), 0);
        assert_passive(DG_DRIVER_NO_PERMISSION, "no permission on /dev/nvidiactl");
    }
}

static void other_drivers_have_other_nodes(void **state) {
    (void)state;
    put("dev/dxg", "");
    assert_passive(DG_DRIVER_LOADED, "the driver is loaded");
    assert_int_equal(unlink(folder_at("dev/dxg")), 0);
    put("dev/nvmap", "");
    assert_passive(DG_DRIVER_LOADED, "the driver is loaded");
    assert_int_equal(unlink(folder_at("dev/nvmap")), 0);
    put("dev/nvhost-ctrl", "");
    assert_passive(DG_DRIVER_LOADED, "the driver is loaded");
    struct dg_passive denied = {.state = DG_DRIVER_NO_PERMISSION};
    char text[512];
    dg_why_passive(&denied, text, sizeof(text));
    assert_non_null(strstr(text, "no permission on /dev/nvidiactl"));
}

/* ---- AMD */

static void reads_the_kfd_topology(void **state) {
    (void)state;
    struct dg_devices d = {0};
    assert_true(dg_kfd_read(folder, &d));
    assert_int_equal(d.n, 0);
    put("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\ngfx_target_version 0\n");
    put("sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 304\ngfx_target_version 90402\n");
    put("sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 206141652992\n");
    put("sys/class/kfd/kfd/topology/nodes/2/name", "no properties");
    put("sys/class/kfd/kfd/topology/nodes/3/properties", "nonsense without a number\n");
    assert_true(dg_kfd_read(folder, &d));
    assert_int_equal(d.n, 1);
    assert_string_equal(d.v[0].gfx, "gfx942");
    assert_string_equal(d.v[0].name, "AMD GPU");
    assert_true(d.v[0].memory_total == 206141652992 && d.v[0].memory_free == UINT64_MAX);
    put("sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties", "heap_type 1\n");
    put("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 110003\n");
    assert_true(dg_kfd_read(folder, &d));
    assert_int_equal(d.n, 2);
    assert_string_equal(d.v[1].gfx, "gfx1103");
    assert_true(d.v[1].memory_total == UINT64_MAX);
    dg_devices_release(&d);
}

/* ---- who holds them */

static void finds_holders(void **state) {
    (void)state;
    struct dg_device two[2] = {{.index = 0}, {.index = 1}};
    struct dg_devices d = {.v = two, .n = 2};
    assert_non_null(strstr(dg_holders_from_proc(folder, &d), "no /proc here"));
    put("proc/uptime", "1000.00 1.00\n");
    put("proc/meminfo", "no process");
    put_process(41, "VLLM::Worker_TP\n", "", "41 (a) b) S 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 90000 0\n",
                "/dev/nvidia1");
    put_process(42, "python3", "python3", "", "/dev/nvidia1");
    put_process(43, "python3\n", "/opt/sglang/bin/python3", "43 (cut", "/dev/nvidia0");
    put_process(44, "nvidia-cuda-mps\n", "nvidia-cuda-mps-server", "44 (x) S 1", "/dev/nvidia0");
    put_process(45, "bash\n", "bash", "", "/dev/null");
    put_process(46, "far\n", "far", "", "/dev/nvidia64"); /* there are 64 at most */
    put("proc/47/comm", "has no descriptors");
    assert_true(dg_holder_add(&two[1], &(struct dg_holder){.pid = 42, .memory = 7})); /* NVML named it already */
    assert_null(dg_holders_from_proc(folder, &d));
    assert_int_equal(two[1].n_holders, 2);
    const struct dg_holder *worker = &two[1].holders[1];
    assert_true(worker->pid == 41 && worker->server_leftover && worker->memory == UINT64_MAX && !worker->mps);
    assert_string_equal(worker->name, "VLLM::Worker_TP");
    assert_true(worker->started > 1e9);
    assert_int_equal(two[0].n_holders, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct dg_holder *h = &two[0].holders[i];
        assert_true(h->pid == 43 ? h->server_leftover && !h->mps : h->pid == 44 && h->mps);
        assert_true(isnan(h->started));
    }
    struct dg_holder unended = {.pid = 42};
    dg_holder_describe(folder, &unended);
    assert_string_equal(unended.name, "python3");
    put("proc/uptime", "");
    struct dg_holder again = {.pid = 41};
    dg_holder_describe(folder, &again);
    assert_true(isnan(again.started));
    put("proc/self/ns/pid", "");
    assert_non_null(strstr(dg_holders_from_proc(folder, &d), "outside this container"));
    while (two[0].n_holders < 1024) assert_true(dg_holder_add(&two[0], &again));
    assert_true(dg_holder_add(&two[0], &again)); /* more are not kept */
    assert_int_equal(two[0].n_holders, 1024);
    free(two[0].holders);
    free(two[1].holders);
}

static void finds_mps(void **state) {
    (void)state;
    struct dg_mps m;
    const struct dg_env named = {.cuda_mps_pipe_directory = "/run/mps"}, empty = {.cuda_mps_pipe_directory = ""};
    dg_mps_find(folder, NULL, &m);
    assert_true(!m.control && !m.server && !*m.pipe);
    put_process(50, "nvidia-cuda-mps\n", "nvidia-cuda-mps-control", "", "/dev/null");
    put_process(51, "nvidia-cuda-mps\n", "nvidia-cuda-mps-server", "", "/dev/null");
    put_process(52, "nvidia-cuda-mps\n", "nvidia-cuda-mps-something", "", "/dev/null");
    put_process(53, "bash\n", "bash nvidia-cuda-mps-control", "", "/dev/null");
    put("proc/54/cmdline", "nvidia-cuda-mps-control");
    put("run/mps/control", "");
    dg_mps_find(folder, &named, &m);
    assert_true(m.control == 50 && m.server == 51);
    assert_string_equal(m.pipe, "/run/mps");
    put("tmp/nvidia-mps/control", "");
    dg_mps_find(folder, &empty, &m);
    assert_string_equal(m.pipe, "/tmp/nvidia-mps");
    put_process(55, "nvidia-cuda-mps\n", "nvidia-cuda-mps-control", "", "/dev/null");
    put_process(56, "nvidia-cuda-mps\n", "nvidia-cuda-mps-server", "", "/dev/null");
    dg_mps_find(folder, &empty, &m); /* one of them, whichever comes first */
    assert_true((m.control == 50 || m.control == 55) && (m.server == 51 || m.server == 56));
}

/* Sixty-four GPUs have a device node of their own here: what is behind them is nobody's. */
static void more_gpus_than_nodes(void **state) {
    (void)state;
    static struct dg_device many[70];
    struct dg_devices d = {.v = many, .n = DG_COUNT(many)};
    put_process(41, "python3\n", "python3", "", "/dev/nvidia5");
    assert_null(dg_holders_from_proc(folder, &d));
    for (unsigned i = 0; i < d.n; i++) assert_int_equal(many[i].n_holders, i == 5);
    free(many[5].holders);
}

/* No root means this machine, whatever it is: nothing may break. */
static void looks_at_the_machine_itself(void **state) {
    (void)state;
    struct dg_passive p;
    struct dg_devices d = {0};
    struct dg_mps m;
    struct dg_holder own = {.pid = (long)getpid()};
    dg_device_passive(NULL, &p);
    assert_true(dg_kfd_read(NULL, &d));
    (void)dg_holders_from_proc(NULL, &d);
    dg_mps_find(NULL, NULL, &m);
    dg_holder_describe(NULL, &own);
    assert_true(*own.name);
    assert_true(own.started > 1e9);
    dg_devices_release(&d);
}

/* ---- words on them */

static void tells_memory(void **state) {
    (void)state;
    static const struct {
        uint64_t free, total;
        bool known, is_free;
        const char *words;
    } each[] = {{UINT64_MAX, UINT64_MAX, false, false, "? of ? GiB free"},
                {UINT64_C(2) << 30, UINT64_MAX, false, false, "2.0 of ? GiB free"},
                {UINT64_MAX, UINT64_C(16) << 30, false, false, "? of 16.0 GiB free"},
                {UINT64_C(15) << 30, UINT64_C(16) << 30, true, true, "15.0 of 16.0 GiB free"},
                {UINT64_C(14) << 30, UINT64_C(16) << 30, true, false, "14.0 of 16.0 GiB free"}};
    for (size_t i = 0; i < DG_COUNT(each); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
        const struct dg_device d = {.memory_free = each[i].free, .memory_total = each[i].total};
        assert_int_equal(dg_device_memory_known(&d), each[i].known);
        assert_int_equal(dg_device_memory_is_free(&d), each[i].is_free);
        dg_device_memory_add(&b, &d);
        assert_slice(dg_buf_slice(&b), each[i].words);
    }
}

static void tells_holders(void **state) {
    (void)state;
    struct dg_holder on_both[] = {{.pid = 42, .name = "python3", .memory = UINT64_C(3) << 30},
                                  {.pid = 43, .name = "sglang", .memory = UINT64_MAX, .server_leftover = true},
                                  {.pid = 44, .name = "nvidia-cuda-mps", .mps = true},
                                  {.pid = 45, .memory = UINT64_MAX}};
    struct dg_device two[] = {{.holders = on_both, .n_holders = 3}, {.holders = on_both, .n_holders = 4}};
    const struct dg_devices d = {.v = two, .n = 2}, first = {.v = two, .n = 1};
    static const char *const words[] = {"42 python3, 3.0 GiB", "43 sglang, looks like part of an LLM server",
                                        "44 nvidia-cuda-mps, 0.0 GiB", "45 (not in this pid namespace)"};
    for (size_t i = 0; i < DG_COUNT(words); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
        dg_holder_add_text(&b, &on_both[i]);
        assert_slice(dg_buf_slice(&b), words[i]);
    }
    for (int leftovers = 0; leftovers < 2; leftovers++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
        dg_devices_add_pids(&b, &d, leftovers);
        assert_slice(dg_buf_slice(&b), leftovers ? " 43" : " 42 43");
    }
    assert_true(dg_devices_held_elsewhere(&d));
    assert_false(dg_devices_held_elsewhere(&first));
}

/* ---- what a child says */

static struct dg_child said(const char *text, int then, double patience) {
    struct script s = {text, then}, nothing = {"E\n", 0};
    struct dg_child a, b;
    dg_child_start(&a, play, &s);
    dg_child_start(&b, play, &nothing);
    dg_child_join2(&a, &b, patience);
    assert_true(b.answer.complete && b.end == DG_CHILD_DONE);
    dg_child_release(&b);
    return a;
}

static void understands_answers(void **state) {
    (void)state;
    struct dg_child c =
        said("M one\nM \nV 13000 580.95.05\n"
             "D 0 12.0 100 50 0 1 GPU-1 0000:10:00.0 NVIDIA A thing\nD 1 - - - -1 - - - \n"
             "D 2 999.1 1 1 0 0 - - odd capability\nD x\nD 3 9.0 1\n"
             "P 0 42 7\nP 0 43 -\nP broken\nF notacode\nF 802 cuInit\nF 3 a later one\nX what\nE of more\nE\n",
             0, 5);
    const struct dg_answer *a = &c.answer;
    assert_true(a->complete && a->failed && a->code == 802);
    assert_string_equal(a->failure, "cuInit");
    assert_string_equal(c.marker, "");
    assert_int_equal(a->cuda, 13000);
    assert_int_equal(a->n, 3);
    assert_true(a->v[0].cc.major == 12 && a->v[0].mig && a->v[0].memory_free == 50);
    assert_string_equal(a->v[0].name, "NVIDIA A thing");
    assert_true(!a->v[1].cc.major && a->v[1].memory_total == UINT64_MAX && !*a->v[1].uuid &&
                a->v[1].compute_mode == -1);
    assert_int_equal(a->v[2].cc.major, 0);
    assert_true(a->n_processes == 2 && a->process[0].memory == 7 && a->process[1].memory == UINT64_MAX);
    dg_child_release(&c);
}

static void lies_have_limits(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    for (int i = 0; i < 70; i++) dg_buf_addf(&b, "D %d 9.0 1 1 0 0 - - x\n", i);
    for (int i = 0; i < 600; i++) dg_buf_addf(&b, "P 0 %d 1\n", i + 1);
    for (int i = 0; i < 600; i++) dg_buf_addc(&b, 'M');
    dg_buf_adds(&b, "\nE\n");
    struct dg_child c = said(b.ptr, 0, 5);
    assert_true(c.answer.n == 64 && c.answer.n_processes == 512 && c.answer.complete);
    dg_child_release(&c);
    while (b.len < 300 << 10) dg_buf_adds(&b, "M and so on\n");
    c = said(b.ptr, -1, 5); /* it says more than anybody may */
    assert_true(c.end != DG_CHILD_NONE && c.len <= 256 << 10);
    dg_child_release(&c);
}

static void assert_bad_end(const struct dg_child *c, bool waited_long, const char *words) {
    struct dg_child other = {.fd = -1};
    struct dg_passive p = {0};
    char text[512];
    assert_true(dg_why_cuda(c, &other, &p, waited_long, text, sizeof(text)));
    if (!strstr(text, words)) fail_msg("%s: not %s", text, words);
}

static void says_how_it_ended(void **state) {
    (void)state;
    struct dg_child c = said("M cuInit\n", SIGSEGV, 5);
    assert_true(c.end == DG_CHILD_DIED && c.signal == SIGSEGV);
    assert_bad_end(&c, false, "the CUDA driver crashed in cuInit (signal 11)");
    dg_child_release(&c);
    c = said("M cuInit\n", -1, 0.2);
    assert_int_equal(c.end, DG_CHILD_LATE);
    assert_bad_end(&c, false, "the CUDA driver is still initialising (cuInit)");
    assert_bad_end(&c, true, "does not come back from cuInit");
    c.state = 'D';
    assert_bad_end(&c, true, "the driver is wedged");
    dg_child_release(&c);
    c = said("half a li", 0, 5);
    assert_int_equal(c.end, DG_CHILD_DONE);
    assert_bad_end(&c, false, "gave no usable answer after its start");
    dg_child_release(&c);
}

static void waits_for_one(void **state) {
    (void)state;
    struct script done = {"text\n", 0}, stays = {"text\n", -1};
    struct dg_child c;
    dg_child_start(&c, play, &done);
    dg_child_wait(&c, 5);
    assert_int_equal(c.end, DG_CHILD_DONE);
    assert_string_equal(c.text, "text\n");
    dg_child_release(&c);
    dg_child_start(&c, play, &stays);
    dg_child_wait(&c, 0.2);
    assert_int_equal(c.end, DG_CHILD_LATE);
    assert_string_equal(c.text, "text\n");
    dg_child_release(&c);
    dg_child_start(&c, play, &stays);
    dg_child_release(&c); /* it is not waited for */
    assert_int_equal(c.end, DG_CHILD_LATE);
}

/* ---- sentences by the codes of the libraries */

static void assert_why(int cuda, int nvml, const struct dg_passive *p, const char *words, const char *nvml_words) {
    struct dg_child a = {.fd = -1, .answer = {.failed = cuda != 0, .complete = !cuda, .code = cuda}},
                    b = {.fd = -1, .answer = {.failed = nvml != 0, .complete = !nvml, .code = nvml}};
    char text[512] = "";
    strcpy(a.answer.failure, "cuThing");
    strcpy(b.answer.failure, "nvmlThing");
    if (cuda < 0) a.answer.code = 0;
    if (nvml < 0) b.answer.code = 0;
    assert_int_equal(dg_why_cuda(&a, &b, p, false, text, sizeof(text)), words != NULL);
    if (words && !strstr(text, words)) fail_msg("CUDA %d: %s: not %s", cuda, text, words);
    assert_int_equal(dg_why_nvml(&a, &b, false, text, sizeof(text)), nvml_words != NULL);
    if (nvml_words && !strstr(text, nvml_words)) fail_msg("NVML %d: %s: not %s", nvml, text, nvml_words);
}

static void says_what_codes_mean(void **state) {
    (void)state;
    static const struct {
        int code;
        const char *words;
    } cuda[] = {{3, "LD_PRELOAD"},
                {34, "stub"},
                {35, "older than the program"},
                {36, "older than the program"},
                {46, "MIG"},
                {100, "sees no GPU"},
                {101, "names a GPU that is not there"},
                {304, "cgroup"},
                {801, "not supported"},
                {802, "the system is not ready"},
                {803, "differ"},
                {804, "forward compatibility"},
                {999, "no /dev/nvidia-uvm"},
                {12345, "cuThing failed with CUDA result 12345"},
                {-1, "CUDA driver: cuThing"}};
    static const struct {
        int code;
        const char *words;
    } nvml[] = {{4, "no permission"},
                {9, "not loaded"},
                {15, "lost"},
                {18, "versions differ"},
                {77, "nvmlThing failed with NVML result 77"},
                {-1, "free memory not known: nvmlThing"}};
    const struct dg_passive plain = {0}, fabric = {.nvswitch = true, .uvm = true};
    for (size_t i = 0; i < DG_COUNT(cuda); i++) assert_why(cuda[i].code, 0, &plain, cuda[i].words, NULL);
    for (size_t i = 0; i < DG_COUNT(nvml); i++) assert_why(0, nvml[i].code, &plain, NULL, nvml[i].words);
    assert_why(802, 0, &fabric, "NVSwitch machine", NULL);
    assert_why(999, 0, &fabric, "a GPU may be lost", NULL);
    assert_why(100, 9, &plain, "(100)", NULL); /* both in one sentence */
    assert_why(999, 15, &fabric, "NVML: a GPU is lost", NULL);
    assert_why(999, 77, &fabric, "unknown driver error", "NVML result 77");
}

/* ---- all of it, with a driver that is none */

static void a_driver_that_answers(void **state) {
    (void)state;
    put_driver();
    put("proc/uptime", "1 1\n");
    put_process(77, "nvidia-cuda-mps\n", "nvidia-cuda-mps-server", "", "/dev/null");
    setenv("FAKE_MIG", "1", 1);
    setenv("FAKE_RESERVED_MB", "1024", 1);
    setenv("FAKE_PIDS", "77:40960,78:0", 1);
    struct dg_devices d = look(NULL);
    assert_int_equal(d.n, 2);
    const struct dg_device *g = &d.v[0];
    assert_true(g->cc.major == 12 && g->mig && g->mps && g->origin == DG_ORIGIN_LIVE && g->cuda == 13000);
    assert_true(g->memory_free == UINT64_C(95) << 30 && g->memory_total == UINT64_C(96) << 30);
    assert_string_equal(g->driver, "580.95.05");
    assert_int_equal(g->n_holders, 2);
    assert_true(g->holders[0].memory == UINT64_C(40960) << 20 && g->holders[1].memory == UINT64_MAX);
    assert_true(noted(&d, "CUDA numbers the GPUs fastest first"));
    dg_devices_release(&d);
    const struct dg_env fastest = {.cuda_device_order = "FASTEST_FIRST"}, unset = {0};
    d = look(&fastest);
    assert_true(noted(&d, "CUDA numbers the GPUs fastest first"));
    dg_devices_release(&d);
    d = look(&unset);
    assert_true(noted(&d, "CUDA numbers the GPUs fastest first"));
    dg_devices_release(&d);
    const struct dg_env ordered = {.cuda_device_order = "PCI_BUS_ID"};
    d = look(&ordered);
    assert_false(noted(&d, "CUDA numbers the GPUs fastest first"));
    dg_devices_release(&d);
}

static void a_driver_that_answers_in_part(void **state) {
    (void)state;
    put_driver();
    setenv("FAKE_FAIL",
           "cuDeviceGetUuid cuDeviceGetName cuDeviceTotalMem_v2 cuDeviceGetAttribute nvmlDeviceGetUUID "
           "nvmlSystemGetDriverVersion nvmlSystemGetCudaDriverVersion_v2 nvmlDeviceGetComputeRunningProcesses_v3",
           1);
    struct dg_devices d = look(NULL);
    assert_int_equal(d.n, 2);                        /* joined by their places on the bus, and completed by NVML */
    assert_string_equal(d.v[1].pci, "0000:11:00.0"); /* as the driver API writes it */
    assert_string_equal(d.v[1].name, "NVIDIA RTX PRO 6000");
    assert_true(d.v[1].cc.major == 12 && d.v[1].memory_total == UINT64_C(96) << 30 && d.v[1].compute_mode == -1);
    dg_devices_release(&d);
    setenv("FAKE_FAIL",
           "cuDeviceGetPCIBusId cuDriverGetVersion nvmlDeviceGetName nvmlDeviceGetPciInfo_v3 nvmlDeviceGetMemoryInfo "
           "nvmlDeviceGetCudaComputeCapability",
           1);
    d = look(NULL);
    assert_true(d.n == 2 && d.v[0].memory_free == UINT64_MAX && !*d.v[0].pci && d.v[0].compute_mode == 0);
    dg_devices_release(&d);
    setenv("FAKE_FAIL", "cuDeviceGet nvmlDeviceGetHandleByIndex_v2", 1);
    d = look(NULL);
    assert_int_equal(d.n, 0);
    assert_true(noted(&d, "cuDeviceGet(0) failed") || noted(&d, "(3)"));
    dg_devices_release(&d);
    unsetenv("FAKE_FAIL");
    setenv("FAKE_COUNT", "1000", 1);
    d = look(NULL);
    assert_true(!d.n && noted(&d, "cuDeviceGetCount answered 1000 GPUs"));
    dg_devices_release(&d);
}

/* What cannot be joined stays apart: no name and no place in common. */
static void lists_that_do_not_meet(void **state) {
    (void)state;
    put_driver();
    setenv("FAKE_PIDS", "77:1", 1);
    static const char *const fails[] = {"cuDeviceGetUuid cuDeviceGetPCIBusId",
                                        "nvmlDeviceGetUUID nvmlDeviceGetPciInfo_v3"};
    for (size_t i = 0; i < DG_COUNT(fails); i++) {
        setenv("FAKE_FAIL", fails[i], 1);
        struct dg_devices d = look(NULL);
        assert_true(d.n == 2 && !d.v[0].n_holders && d.v[0].memory_free == UINT64_MAX);
        dg_devices_release(&d);
    }
}

/* Without libcuda's list NVML's counts; what CUDA hides is counted. */
static void one_library_without_the_other(void **state) {
    (void)state;
    put_driver();
    setenv("FAKE_INIT", "999", 1);
    setenv("FAKE_PIDS", "77:1", 1);
    struct dg_devices d = look(NULL);
    assert_int_equal(d.n, 2);
    assert_true(noted(&d, "unknown driver error (999)"));
    assert_int_equal(d.v[0].n_holders, 1);
    dg_devices_release(&d);
    unsetenv("FAKE_INIT");
    setenv("FAKE_CRASH", "nvmlInit_v2", 1);
    d = look(NULL);
    assert_true(d.n == 2 && d.v[0].memory_free == UINT64_MAX);
    assert_true(noted(&d, "NVML crashed in nvmlInit (signal 11)"));
    assert_string_equal(d.v[0].driver, "580.95.05"); /* as the kernel says */
    dg_devices_release(&d);
}

/* Counted against NVML's list, which knows no CUDA_VISIBLE_DEVICES. */
static void what_is_hidden_is_said(void **state) {
    (void)state;
    const struct dg_env env = {.cuda_visible_devices = "1"};
    put_driver();
    setenv("FAKE_CUDA_GPUS", "1x12.0:NVIDIA RTX PRO 6000", 1);
    struct dg_devices d = look(&env);
    assert_int_equal(d.n, 1);
    assert_true(noted(&d, "CUDA_VISIBLE_DEVICES=1 hides 1 of 2 GPUs"));
    dg_devices_release(&d);
    /* not where something else hides them, or where the list is not whole */
    const struct dg_env unset = {0};
    const struct dg_env *const others[] = {NULL, &unset};
    for (size_t i = 0; i < DG_COUNT(others); i++) {
        d = look(others[i]);
        assert_true(d.n == 1 && !noted(&d, "hides"));
        dg_devices_release(&d);
    }
    setenv("FAKE_CRASH", "cuDeviceGetName", 1);
    d = look(&env);
    assert_false(noted(&d, "hides"));
    dg_devices_release(&d);
    unsetenv("FAKE_CUDA_GPUS");
}

static void no_driver_and_two_makers(void **state) {
    (void)state;
    struct dg_devices d = look(NULL);
    assert_true(!d.n && noted(&d, "no NVIDIA GPU"));
    dg_devices_release(&d);
    put("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
    d = look(NULL);
    assert_int_equal(d.n, 1);
    assert_false(noted(&d, "no NVIDIA GPU"));
    dg_devices_release(&d);
}

static int look_once(void *arg) {
    (void)arg;
    struct dg_device_opts opts = {.timeout = 10, .root = folder};
    struct dg_look *l = NULL;
    struct dg_devices d = {0};
    int r = dg_device_start(&opts, &l, NULL);
    if (!r) r = dg_device_join(l, &d, NULL);
    dg_devices_release(&d);
    return r;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    assert_true(unit_fail_each(look_once, NULL) >= 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, device_set_up, folder_remove)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(sees_what_stands_in_files),
        TEST(other_drivers_have_other_nodes),
        TEST(reads_the_kfd_topology),
        TEST(finds_holders),
        TEST(more_gpus_than_nodes),
        TEST(finds_mps),
        TEST(looks_at_the_machine_itself),
        TEST(tells_memory),
        TEST(tells_holders),
        TEST(understands_answers),
        TEST(lies_have_limits),
        TEST(says_how_it_ended),
        TEST(waits_for_one),
        TEST(says_what_codes_mean),
        TEST(a_driver_that_answers),
        TEST(a_driver_that_answers_in_part),
        TEST(lists_that_do_not_meet),
        TEST(one_library_without_the_other),
        TEST(what_is_hidden_is_said),
        TEST(no_driver_and_two_makers),
        TEST(survives_failing_allocations),
    };
    const char *build = getenv("BUILD_DIR");
    char libraries[400];
    if (argc == 1 && build) { /* the loader reads this once, at the start */
        snprintf(libraries, sizeof(libraries), "%s/tests/fake/whole", build);
        setenv("LD_LIBRARY_PATH", libraries, 1);
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
