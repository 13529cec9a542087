/* A TCG plugin for QEMU: each load and store of a range of physical memory, whoever makes it.
 *
 *   qemu-system-arm ... -plugin file=build/tests/memory-log.so,out=FILE,begin=0x817ae000,size=0x1000
 *
 * FILE has 16 bytes for each, in the order of each CPU: PC, physical address, and CPU, log2 of the size, and whether it is a
 * store.
 */
#include "qemu_plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8 };

EXPORT int qemu_plugin_version = API_VERSION;

struct entry {
    uint32_t pc, address;
    uint8_t cpu, log2_size, store, zero;
    uint32_t zero2;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static uint64_t begin, size;

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc) {
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    if (where == NULL || qemu_plugin_hwaddr_is_io(where)) return;
    uint64_t address = qemu_plugin_hwaddr_phys_addr(where);
    if (address - begin >= size) return;
    struct entry entry = {(uint32_t)(uintptr_t)pc, (uint32_t)address, (uint8_t)cpu, (uint8_t)qemu_plugin_mem_size_shift(info),
                          qemu_plugin_mem_is_store(info), 0, 0};
    pthread_mutex_lock(&lock);
    fwrite(&entry, sizeof entry, 1, out);
    pthread_mutex_unlock(&lock);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
    }
}

static void ended(qemu_plugin_id_t id, void *unused) {
    (void)id, (void)unused;
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int n = 0; n < argc; ++n) {
        char *value = strchr(argv[n], '=');
        if (value == NULL) continue;
        if (strncmp(argv[n], "out=", 4) == 0) out = fopen(value + 1, "w");
        else if (strncmp(argv[n], "begin=", 6) == 0) begin = strtoull(value + 1, NULL, 0);
        else if (strncmp(argv[n], "size=", 5) == 0) size = strtoull(value + 1, NULL, 0);
    }
    if (out == NULL || size == 0) {
        fputs("memory-log: out=FILE, begin=ADDRESS and size=BYTES are needed\n", stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
