/* A TCG plugin for QEMU: how many instructions the guest and the hypervisor execute, block by block, on up to 4 CPUs.
 *
 *   qemu-system-arm ... -plugin file=build/tests/guest-count.so,out=FILE,until=PC
 *
 * Where PC is executed first, it writes a line for each block of code that was executed: its address, its instructions, how
 * often. A block that an exception leaves counts as a whole. */
#include "../qemu/qemu_plugin.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

EXPORT int qemu_plugin_version = API_VERSION;

enum { CPUS = 4 };
struct block {
    uint64_t at, times[CPUS];
    size_t instructions;
    struct block *next;
};
static struct block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t until;
static const char *out;

static void executed(unsigned cpu, void *block) {
    ++((struct block *)block)->times[cpu % CPUS];
}

static void reached(unsigned cpu, void *unused) {
    (void)cpu, (void)unused;
    pthread_mutex_lock(&lock);
    FILE *file = out == NULL ? NULL : fopen(out, "w");
    out = NULL;
    for (const struct block *block = file == NULL ? NULL : blocks; block != NULL; block = block->next) {
        uint64_t times = 0;
        for (unsigned n = 0; n < CPUS; ++n) times += block->times[n];
        if (times != 0) fprintf(file, "%" PRIx64 " %zu %" PRIu64 "\n", block->at, block->instructions, times);
    }
    if (file != NULL) fclose(file);
    pthread_mutex_unlock(&lock);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    struct block *block = calloc(1, sizeof *block);
    block->at = qemu_plugin_tb_vaddr(tb);
    block->instructions = qemu_plugin_tb_n_insns(tb);
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&lock);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block);
    for (size_t n = 0; n < block->instructions; ++n) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);
        if (qemu_plugin_insn_vaddr(insn) == until)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, reached, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int n = 0; n < argc; ++n) {
        if (sscanf(argv[n], "until=%" SCNi64, &until) == 1) continue;
        if (strncmp(argv[n], "out=", 4) == 0) out = argv[n] + 4;
        else fprintf(stderr, "guest-count: what is %s?\n", argv[n]);
    }
    if (out == NULL || until == 0) {
        fputs("guest-count: out=FILE or until=PC is missing\n", stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
