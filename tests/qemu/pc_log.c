/* A TCG plugin for QEMU: what QEMU's own log of device accesses does not say, the PC.
 *
 *   qemu-system-arm ... -plugin file=build/tests/pc-log.so,out=FILE
 *
 * A line for each access to a device or to where nothing is:
 *
 *   CPU R|W SIZE ADDRESS PC      1 W 4 0x1c090000 0xc0a8481c
 *
 * in each CPU's order. Between CPUs there is none: QEMU calls a plugin when the device is done and its lock free.
 */
#include "qemu_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

EXPORT int qemu_plugin_version = API_VERSION;

static FILE *out;

/* Called behind the access, if that did not fault. */
static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc) {
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    if (where == NULL || !qemu_plugin_hwaddr_is_io(where)) return;
    fprintf(out, "%u %c %u 0x%" PRIx64 " 0x%" PRIx64 "\n", cpu, /* whole: stdio locks the stream */
            qemu_plugin_mem_is_store(info) ? 'W' : 'R', 1u << qemu_plugin_mem_size_shift(info),
            qemu_plugin_hwaddr_phys_addr(where), (uint64_t)(uintptr_t)pc);
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
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
        fputs("pc-log: out=FILE is missing\n", stderr);
        return -1;
    }
    out = fopen(argv[0] + 4, "w");
    if (out == NULL) {
        perror(argv[0] + 4);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
