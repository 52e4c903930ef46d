#include "ingest/kind.h"
#include "base/mem.h"
#include "ingest/prefix.h"

/* What a message begins with, or holds, where one kind of program prints it and the others do not. The first that fits
 * decides. */
struct face {
    enum dg_kind kind;
    const char *text;
};

static const struct face starts[] = {
    {DG_KIND_KERNEL, "NVRM: "},
    {DG_KIND_KERNEL, "Out of memory: Killed process"},
    {DG_KIND_KERNEL, "Memory cgroup out of memory"},
    {DG_KIND_KERNEL, "oom-kill:constraint="},
    {DG_KIND_KERNEL, "nvidia-nvswitch"},
    {DG_KIND_KERNEL, "pcieport "},
    {DG_KIND_KERNEL, "Call Trace:"},
    {DG_KIND_KERNEL, "RIP: "},
    {DG_KIND_KERNEL, "EDAC "},
    {DG_KIND_KERNEL, "mce: [Hardware Error]"},
    {DG_KIND_KERNEL, "INFO: task "},
    {DG_KIND_KERNEL, "Linux version "},
    {DG_KIND_LOADER, "linux-vdso.so.1"},
    {DG_KIND_LOADER, "not a dynamic executable"},
    {DG_KIND_LOADER, "find library="},
    {DG_KIND_LOADER, "trying file="},
    {DG_KIND_LOADER, "calling init: "},
    {DG_KIND_LOADER, "$ ldd "},
    {DG_KIND_BUILD, "ninja: "},
    {DG_KIND_BUILD, "FAILED: "},
    {DG_KIND_BUILD, "-- Configuring "},
    {DG_KIND_BUILD, "-- The C"},
    {DG_KIND_BUILD, "-- Build files have been written"},
    {DG_KIND_BUILD, "-- Looking for "},
    {DG_KIND_BUILD, "-- Found "},
    {DG_KIND_BUILD, "-- Performing Test "},
    {DG_KIND_BUILD, "CMake Error"},
    {DG_KIND_BUILD, "CMake Warning"},
    {DG_KIND_BUILD, "make: "},
    {DG_KIND_BUILD, "make["},
    {DG_KIND_BUILD, "gmake["},
    {DG_KIND_BUILD, "collect2: error"},
    {DG_KIND_BUILD, "/usr/bin/ld: "},
    {DG_KIND_BUILD, "In file included from "},
    {DG_KIND_BUILD, "ptxas "},
    {DG_KIND_BUILD, "nvcc fatal"},
    {DG_KIND_BUILD, "nvcc error"},
    {DG_KIND_BUILD, "running build"},
    {DG_KIND_BUILD, "building '"},
    {DG_KIND_BUILD, "creating build"},
    {DG_KIND_BUILD, "copying "},
    {DG_KIND_BUILD, "Building wheel"},
    {DG_KIND_BUILD, "Collecting "},
    {DG_KIND_BUILD, "Downloading "},
    {DG_KIND_BUILD, "Installing build dependencies"},
    {DG_KIND_BUILD, "Installing collected packages"},
    {DG_KIND_BUILD, "error: subprocess-exited-with-error"},
    {DG_KIND_BUILD, "ERROR: Failed building wheel"},
    {DG_KIND_BUILD, "gcc: "},
    {DG_KIND_BUILD, "g++: "},
    {DG_KIND_BUILD, "c++: "},
    {DG_KIND_CONTAINER, "docker: "},
    {DG_KIND_CONTAINER, "Error response from daemon"},
    {DG_KIND_CONTAINER, "Unable to find image "},
    {DG_KIND_CONTAINER, "Digest: sha256:"},
    {DG_KIND_CONTAINER, "Status: Downloaded newer image"},
    {DG_KIND_CONTAINER, "Status:           "},
    {DG_KIND_CONTAINER, "nvidia-container-cli: "},
    {DG_KIND_CONTAINER, "Namespace: "},
    {DG_KIND_CONTAINER, "Containers:"},
    {DG_KIND_CONTAINER, "Last State: "},
    {DG_KIND_CONTAINER, "Restart Count: "},
    {DG_KIND_CONTAINER, "Exit Code: "},
    {DG_KIND_CONTAINER, "Image ID: "},
    {DG_KIND_CONTAINER, "Container ID: "},
    {DG_KIND_CONTAINER, "apiVersion: "},
    {DG_KIND_CONTAINER, "containerStatuses:"},
    {DG_KIND_CONTAINER, "restartCount: "},
    {DG_KIND_CONTAINER, "exitCode: "},
    {DG_KIND_CONTAINER, "\"OOMKilled\": "},
    {DG_KIND_CONTAINER, "\"ExitCode\": "},
    {DG_KIND_CONTAINER, "\"RestartCount\": "},
    {DG_KIND_CONTAINER, "\"LogPath\": "},
    {DG_KIND_CONTAINER, "\"GraphDriver\": "},
    {DG_KIND_CONTAINER, "oom_kill "},
    {DG_KIND_CONTAINER, "oom_group_kill "},
    {DG_KIND_CONTAINER, "Back-off restarting failed container"},
    {DG_KIND_CONTAINER, "kubelet: "},
    {DG_KIND_CONTAINER, "dockerd: "},
    {DG_KIND_SCHEDULER, "slurmstepd: "},
    {DG_KIND_SCHEDULER, "slurmd: "},
    {DG_KIND_SCHEDULER, "srun: "},
    {DG_KIND_SCHEDULER, "salloc: "},
    {DG_KIND_SCHEDULER, "sbatch: "},
    {DG_KIND_SCHEDULER, "Submitted batch job "},
    {DG_KIND_SCHEDULER, "JobID "},
    {DG_KIND_SCHEDULER, "JobID|"},
    {DG_KIND_SCHEDULER, "JobId="},
    {DG_KIND_SCHEDULER, "JobState="},
    {DG_KIND_SCHEDULER, "Loaded: loaded ("},
    {DG_KIND_SCHEDULER, "Active: "},
    {DG_KIND_SCHEDULER, "Main PID: "},
    {DG_KIND_SCHEDULER, "Process: "},
    {DG_KIND_SCHEDULER, "CGroup: /"},
    {DG_KIND_ENVIRONMENT, "Collecting environment information"},
    {DG_KIND_ENVIRONMENT, "PyTorch version: "},
    {DG_KIND_ENVIRONMENT, "PyTorch version   "},
    {DG_KIND_ENVIRONMENT, "Is debug build: "},
    {DG_KIND_ENVIRONMENT, "Is CUDA available: "},
    {DG_KIND_ENVIRONMENT, "CUDA used to build PyTorch"},
    {DG_KIND_ENVIRONMENT, "CUDA runtime version: "},
    {DG_KIND_ENVIRONMENT, "Nvidia driver version: "},
    {DG_KIND_ENVIRONMENT, "cuDNN version: "},
    {DG_KIND_ENVIRONMENT, "Versions of relevant libraries"},
    {DG_KIND_ENVIRONMENT, "GPU models and configuration"},
    {DG_KIND_ENVIRONMENT, "[pip3] "},
    {DG_KIND_ENVIRONMENT, "[conda] "},
    {DG_KIND_ENVIRONMENT, "| NVIDIA-SMI "},
    {DG_KIND_ENVIRONMENT, "|===="},
    {DG_KIND_ENVIRONMENT, "==============NVSMI LOG"},
    {DG_KIND_ENVIRONMENT, "Driver Version  "},
    {DG_KIND_ENVIRONMENT, "Product Name  "},
    {DG_KIND_ENVIRONMENT, "Cuda compilation tools, release"},
    {DG_KIND_ENVIRONMENT, "nvcc: NVIDIA (R) Cuda compiler driver"},
    {DG_KIND_ENVIRONMENT, "Package "},
    {DG_KIND_SERVER, "Traceback (most recent call last)"},
    {DG_KIND_SERVER, "File \""},
    {DG_KIND_SERVER, "ggml_"},
    {DG_KIND_SERVER, "llama_"},
    {DG_KIND_SERVER, "load_backend: "},
    {DG_KIND_SERVER, "load_tensors: "},
    {DG_KIND_SERVER, "print_info: "},
    {DG_KIND_SERVER, "system_info: "},
    {DG_KIND_SERVER, "srv "},
    {DG_KIND_SERVER, "slot "},
    {DG_KIND_SERVER, "main: "},
    {DG_KIND_SERVER, "[TensorRT-LLM]"},
    {DG_KIND_SERVER, "[GIN] "},
    {DG_KIND_SERVER, "[Gloo] "},
    {DG_KIND_SERVER, "[deepspeed]"},
    {DG_KIND_SERVER, "Loading safetensors checkpoint shards"},
    {DG_KIND_SERVER, "Loading checkpoint shards"},
    {DG_KIND_SERVER, "Capturing "},
    {DG_KIND_SERVER, "terminate called "},
    {DG_KIND_SERVER, "torch."},
    {DG_KIND_SERVER, "RuntimeError: "},
    {DG_KIND_SERVER, "ImportError: "},
    {DG_KIND_SERVER, "ValueError: "},
    {DG_KIND_SERVER, "ModuleNotFoundError: "},
    {DG_KIND_SERVER, "AssertionError"},
    {DG_KIND_SERVER, "== Triton Inference Server =="},
};

static const struct face holds[] = {
    {DG_KIND_CONTAINER, "  kubelet  "},
    {DG_KIND_SERVER, "server_args=ServerArgs("},
    {DG_KIND_SERVER, "sglang.launch_server"},
    {DG_KIND_SERVER, "vllm serve "},
    {DG_KIND_SERVER, "vllm.entrypoints."},
    {DG_KIND_SERVER, "Uvicorn running on"},
    {DG_KIND_SERVER, "llama-server "},
    {DG_KIND_SERVER, "trtllm-serve"},
    {DG_KIND_SERVER, "tritonserver"},
    {DG_KIND_KERNEL, " invoked oom-killer: "},
    {DG_KIND_LOADER, " => not found"},
    {DG_KIND_LOADER, ".so: version `"},
    {DG_KIND_LOADER, "error while loading shared libraries"},
    {DG_KIND_LOADER, ": symbol lookup error: "},
    {DG_KIND_BUILD, ": error: "},
    {DG_KIND_BUILD, ": fatal error: "},
    {DG_KIND_BUILD, ": warning: "},
    {DG_KIND_BUILD, ": undefined reference to "},
    {DG_KIND_BUILD, "bin/nvcc "},
    {DG_KIND_BUILD, "bin/ld: "},
    {DG_KIND_CONTAINER, ": Pulling from "},
    {DG_KIND_CONTAINER, ": Pull complete"},
    {DG_KIND_CONTAINER, "OOMKilled"},
    {DG_KIND_CONTAINER, "CrashLoopBackOff"},
    {DG_KIND_CONTAINER, "OCI runtime create failed"},
    {DG_KIND_SCHEDULER, "OUT_OF_ME"},
    {DG_KIND_SCHEDULER, "DUE TO TIME LIMIT"},
};

/* Units whose lines in a journal are of a kind by their name. */
static const struct face units[] = {
    {DG_KIND_SCHEDULER, "systemd"}, {DG_KIND_SCHEDULER, "slurm"},      {DG_KIND_CONTAINER, "dockerd"},
    {DG_KIND_CONTAINER, "kubelet"}, {DG_KIND_CONTAINER, "containerd"}, {DG_KIND_CONTAINER, "podman"},
};

static enum dg_kind starting(struct dg_slice s, const struct face *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (dg_slice_starts(s, dg_cstr(v[i].text))) return v[i].kind;
    return DG_KIND_UNKNOWN;
}

/* "name==1.2.3", "name @ file:…" of pip freeze; " libfoo.so.1 => /lib/libfoo.so.1 (0x…)" of ldd; "[12/34] …" of ninja;
 * "Container x  Created" of docker compose; "oom 3" of memory.events. */
static enum dg_kind by_shape(struct dg_slice s) {
    ptrdiff_t at = dg_slice_find(s, DG_S("=="));
    if (at < 0) at = dg_slice_find(s, DG_S(" @ "));
    if (at > 0 && dg_slice_find_ch(dg_slice_upto(s, (size_t)at), ' ') < 0 && dg_slice_find_ch(s, '(') < 0)
        return DG_KIND_ENVIRONMENT;
    if (dg_slice_find(s, DG_S(" => /")) > 0 && dg_slice_find(s, DG_S(" (0x")) > 0) return DG_KIND_LOADER;
    if (s.len > 6 && *s.ptr == '[' && (at = dg_slice_find_ch(dg_slice_upto(s, 16), ']')) > 0) {
        uint64_t a, b;
        struct dg_slice inside = dg_slice(s.ptr + 1, (size_t)at - 1), done;
        if (dg_slice_split(&inside, '/', &done) && dg_slice_u64(done, &a) && inside.ptr && dg_slice_u64(inside, &b))
            return DG_KIND_BUILD;
    }
    bool compose = dg_slice_starts(s, DG_S("Container ")) || dg_slice_starts(s, DG_S("Network "));
    if (compose && (dg_slice_find(s, DG_S("  Creat")) > 0 || dg_slice_find(s, DG_S("  Start")) > 0))
        return DG_KIND_CONTAINER;
    uint64_t count;
    if (dg_slice_starts(s, DG_S("oom ")) && dg_slice_u64(dg_slice_from(s, 4), &count)) return DG_KIND_CONTAINER;
    return DG_KIND_UNKNOWN;
}

static enum dg_kind by_message(struct dg_slice body) {
    body = dg_slice_trim(body);
    enum dg_kind k = starting(body, starts, DG_COUNT(starts));
    for (size_t i = 0; i < DG_COUNT(holds) && !k; i++)
        if (dg_slice_find(body, dg_cstr(holds[i].text)) >= 0) k = holds[i].kind;
    return k ? k : by_shape(body);
}

struct votes {
    unsigned of[DG_KIND_COUNT], lines, spoken; /* spoken: in a server's own log form */
};

/* The vote of a line whose prefix was taken apart. */
static void vote(struct votes *v, struct dg_slice line, const struct dg_prefix *p, unsigned forms) {
    if (!dg_slice_trim(p->body).len && !forms) return;
    enum dg_kind kind = forms & DG_FORM_SYSLOG ? starting(p->label, units, DG_COUNT(units)) : DG_KIND_UNKNOWN;
    if (forms & DG_FORM_KERNEL)
        kind = DG_KIND_KERNEL;
    else if (!kind && forms & DG_FORM_ENGINE) /* kubelet and containerd log in the forms of some servers */
        kind = DG_KIND_SERVER;
    else if (!kind && forms & DG_FORM_LOADER)
        kind = DG_KIND_LOADER;
    v->spoken += kind == DG_KIND_SERVER;
    if (!kind) kind = by_message(p->body);
    if (!kind && !forms && *line.ptr == ' ') return; /* goes on what stands above */
    v->of[kind]++;
    v->lines++;
}

static enum dg_kind decide(const struct votes *v) {
    if (2 * v->of[DG_KIND_KERNEL] > v->lines) return DG_KIND_KERNEL;
    enum dg_kind best = DG_KIND_UNKNOWN;
    for (int k = DG_KIND_LOADER; k < DG_KIND_COUNT; k++)
        if (v->of[k] && (best == DG_KIND_UNKNOWN || v->of[k] > v->of[best])) best = (enum dg_kind)k;
    /* a server may build, load and list a lot before it dies; a collector of the environment may print a few log lines
     */
    bool server = v->of[DG_KIND_SERVER] >= v->of[best] || (v->spoken >= 3 && 20 * v->spoken >= v->of[best]);
    if (best == DG_KIND_UNKNOWN) server = v->of[DG_KIND_SERVER] > 0;
    if (server) return DG_KIND_SERVER;
    if (best == DG_KIND_ENVIRONMENT && v->of[DG_KIND_CONTAINER])
        return DG_KIND_CONTAINER; /* with nvidia-smi below it */
    return best == DG_KIND_UNKNOWN && v->of[DG_KIND_KERNEL] ? DG_KIND_KERNEL : best;
}

/* Who speaks in a text: the kernel, as a journal's tag has it, and others. */
struct speakers {
    struct votes kernel, others;
    struct dg_slice first; /* of the others' units */
    bool several;          /* they have more than one */
    bool kernel_spoke;
    unsigned lines, tagged; /* tagged: by a journal */
};

static void hear(struct speakers *s, struct dg_slice line) {
    struct dg_prefix p;
    unsigned forms = dg_prefix_scan(line, DG_KIND_UNKNOWN, &p).forms;
    bool kernel = dg_prefix_kernel(&p, forms);
    s->lines++;
    s->tagged += (forms & DG_FORM_SYSLOG) != 0;
    s->kernel_spoke |= kernel;
    vote(kernel ? &s->kernel : &s->others, line, &p, forms);
    if (kernel) return;
    if (!s->first.ptr) s->first = p.unit;
    s->several |= p.unit.len && !dg_slice_eq(p.unit, s->first);
}

static struct votes sum(const struct votes *a, const struct votes *b) {
    struct votes v = {.lines = a->lines + b->lines, .spoken = a->spoken + b->spoken};
    for (int k = 0; k < DG_KIND_COUNT; k++) v.of[k] = a->of[k] + b->of[k];
    return v;
}

enum dg_kind dg_kind_detect(struct dg_slice head, enum dg_aside *ret_side) {
    struct speakers s = {0};
    struct dg_slice line;
    while (dg_slice_split(&head, '\n', &line))
        if (line.len) hear(&s, line);
    struct votes all = sum(&s.kernel, &s.others);
    enum dg_kind whole = decide(&all);
    *ret_side = DG_ASIDE_NONE;
    if (2 * s.tagged < s.lines || (!s.kernel_spoke && !s.several)) return whole;
    if (decide(&s.others) == DG_KIND_SERVER) {
        *ret_side = DG_ASIDE_KERNEL;
        return DG_KIND_SERVER;
    }
    if (whole == DG_KIND_KERNEL && s.kernel_spoke) *ret_side = DG_ASIDE_OTHERS;
    return whole;
}
