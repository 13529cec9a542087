/* A TCG plugin for QEMU: how often the guest executes the HVC of a probe, and the instruction in whose place it is.
 *
 *   qemu-system-arm ... -plugin file=build/tests/probe-log.so,out=FILE[,loads=ADDRESS]
 *
 * At the end a line for each probe that was ever executed:
 *
 *   ADDRESS HVCS CALLS INSTRUCTIONS      0xc04c56ac 1313 1312 1312
 *
 * CALLS are HVCs but for those that a CPU executes again before the instruction, since Hyp has to wait. If the instruction
 * is never executed, Hyp carries it out: they are HVCs. The instruction counts from the first HVC on: a call that the
 * probe misses would execute it, too. With the address of do_init_module, which has an HVC, those of modules count from
 * the start. But from the loading of a module to the next one nothing counts where there is no HVC: it may be other code.
 * An instruction whose accesses have stopped, other than by the kernel's data abort, comes again, and is the same one: it
 * needed a page that moves.
 */
#include "qemu_plugin.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8, SLOTS = 1 << 17 };

EXPORT int qemu_plugin_version = API_VERSION;

struct probe {
    uint32_t at; /* 0: none */
    uint64_t hvcs[CPUS], calls[CPUS], itself[CPUS]; /* since a module was loaded */
    bool called[CPUS];                              /* an HVC, and not yet the instruction */
    unsigned accesses, left[CPUS];                  /* of the instruction; left to be made */
    uint64_t all_hvcs, all_calls, all_itself;       /* before */
};

static struct probe *probes; /* by address, open addressing */
static struct probe *last[CPUS]; /* HVC of a CPU */
static struct probe *begun[CPUS]; /* accesses of a CPU */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t loads; /* 0: not given */
static FILE *out;

static uint64_t sum(const uint64_t *of_cpus) {
    uint64_t all = 0;
    for (int cpu = 0; cpu < CPUS; ++cpu) all += of_cpus[cpu];
    return all;
}

static struct probe *slot_of(uint32_t at) {
    uint32_t n = at / 4 * 0x9e3779b1u >> 15;
    while (probes[n].at != 0 && probes[n].at != at) n = (n + 1) % SLOTS;
    return &probes[n];
}

static bool in_modules(uint32_t at) { return loads != 0 && at >= 0xbf000000u && at < 0xc0000000u; }

static void add_up(struct probe *probe) {
    uint64_t hvcs = sum(probe->hvcs), itself = sum(probe->itself);
    probe->all_hvcs += hvcs;
    probe->all_calls += itself == 0 ? hvcs : sum(probe->calls);
    probe->all_itself += hvcs == 0 && in_modules(probe->at) ? 0 : itself;
    memset(probe->hvcs, 0, sizeof probe->hvcs);
    memset(probe->calls, 0, sizeof probe->calls);
    memset(probe->itself, 0, sizeof probe->itself);
}

/* What lies at the addresses of modules may be other code from now on. */
static void begin_other_code(void) {
    for (size_t n = 0; n < SLOTS; ++n)
        if (in_modules(probes[n].at)) add_up(&probes[n]);
}

static void at_hvc(unsigned cpu, void *at) {
    struct probe *probe = at;
    cpu %= CPUS;
    if (probe->at == loads && !probe->called[cpu]) begin_other_code();
    ++probe->hvcs[cpu];
    if (probe->left[cpu] != 0) return;
    probe->calls[cpu] += !probe->called[cpu];
    probe->called[cpu] = true;
    last[cpu] = probe;
}
static void at_itself(unsigned cpu, void *at) {
    struct probe *probe = at;
    cpu %= CPUS;
    bool again = probe->left[cpu] != 0;
    probe->left[cpu] = probe->accesses;
    begun[cpu] = probe;
    if (again) return;
    ++probe->itself[cpu];
    /* Hyp has carried it out; now there is no probe, and perhaps another instruction. */
    for (unsigned n = 0; n < CPUS && last[cpu] != probe; ++n)
        if (probe->called[n]) probe->calls[n] = probe->hvcs[n];
    probe->called[cpu] = false;
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *at) {
    (void)info, (void)va;
    struct probe *probe = at;
    cpu %= CPUS;
    probe->left[cpu] -= probe->left[cpu] != 0;
}

static void aborted(unsigned cpu, void *unused) {
    (void)unused;
    if (begun[cpu % CPUS] != NULL) begun[cpu % CPUS]->left[cpu % CPUS] = 0;
}

/* Of memory, by an ARM instruction without a condition; 0 where it is not known. */
static unsigned accesses_of(uint32_t word) {
    if (word >> 28 != 14) return 0;
    if ((word & 0x0e000000) == 0x08000000) return (unsigned)__builtin_popcount(word & 0xffff); /* LDM, STM */
    return (word & 0x0c000000) == 0x04000000 && (word & 0x02000010) != 0x02000010;             /* LDR, STR */
}

/* HVC #n of an ARM instruction, other than #0 (PSCI). */
static bool is_probe(uint32_t word) { return (word & 0xfff000f0u) == 0xe1400070u && (word & 0xfff0fu) != 0; }

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t at = (uint32_t)qemu_plugin_insn_vaddr(insn), word = 0;
        if (at == 0xffff0010u) qemu_plugin_register_vcpu_insn_exec_cb(insn, aborted, QEMU_PLUGIN_CB_NO_REGS, NULL);
        if (qemu_plugin_insn_size(insn) != sizeof word) continue;
        instruction_bytes(insn, &word, sizeof word);
        pthread_mutex_lock(&lock);
        struct probe *probe = slot_of(at);
        if (is_probe(word) || in_modules(at)) probe->at = at;
        pthread_mutex_unlock(&lock);
        if (is_probe(word))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_hvc, QEMU_PLUGIN_CB_NO_REGS, probe);
        else if (probe->at != 0) {
            probe->accesses = accesses_of(word);
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_itself, QEMU_PLUGIN_CB_NO_REGS, probe);
            qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, probe);
        }
    }
}

static void ended(qemu_plugin_id_t id, void *unused) {
    (void)id, (void)unused;
    for (size_t n = 0; n < SLOTS; ++n) {
        struct probe *probe = &probes[n];
        add_up(probe);
        if (probe->all_hvcs != 0 && probe->at != loads)
            fprintf(out, "0x%08" PRIx32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", probe->at, probe->all_hvcs,
                    probe->all_calls, probe->all_itself);
    }
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    if (argc == 2 && strncmp(argv[1], "loads=", 6) == 0) loads = (uint32_t)strtoul(argv[1] + 6, NULL, 0);
    if (argc != 1 + (loads != 0) || strncmp(argv[0], "out=", 4) != 0) {
        fputs("probe-log: out=FILE is missing\n", stderr);
        return -1;
    }
    out = fopen(argv[0] + 4, "w");
    probes = calloc(SLOTS, sizeof *probes);
    if (out == NULL || probes == NULL) {
        perror(argv[0] + 4);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
