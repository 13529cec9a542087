/* A TCG plugin for QEMU: which page of memory the guest's CPUs have in turn, by its own accesses.
 *
 *   qemu-system-arm ... -accel tcg,thread=single -plugin file=build/tests/move-log.so,out=FILE,begin=ADDRESS,size=BYTES,hyp=ADDRESS,state=ADDRESS
 *
 * A page can be read by CPUs that have read it since the last store, and be stored to by a CPU that is the only one of
 * those, and has stored. Each load, store or fetch of the guest that changes this is 8 bytes of FILE: the page's number, the
 * CPU, and 0, 1 or 2. Walks of its tables are not seen. 3 is Hyp's note of a move: it stores the second word of 8 bytes of
 * `state`, which has a place for each page. In a single thread the order is that of the machine.
 */
#include "qemu_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = API_VERSION;

enum { PAGE = 12, LOAD = 0, STORE = 1, FETCH = 2, NOTE = 3, HYP_SIZE = 16 << 20, OWN_SIZE = 80 << 20 /* with the trace */ };

struct entry {
    uint32_t page;
    uint8_t cpu, what;
    uint16_t zero;
};
struct page {
    uint8_t readers;
    uint8_t written;
};

static FILE *out;
static uint64_t begin, size, hyp, state, host_minus_guest;
static struct page *pages;
static uint64_t last_note; /* before the guest runs: of what it needs first */
static int guest_runs;

static void put(uint64_t page, unsigned cpu, unsigned what) {
    struct entry entry = {(uint32_t)page, (uint8_t)cpu, (uint8_t)what, 0};
    fwrite(&entry, sizeof entry, 1, out);
}

static void used(unsigned cpu, uint64_t address, unsigned what) {
    if (address - begin >= size || address - hyp < OWN_SIZE) return; /* Hyp has copies of code with probes */
    struct page *page = &pages[(address - begin) >> PAGE];
    uint8_t me = (uint8_t)(1u << cpu);
    if (what == STORE ? page->readers == me && page->written : (page->readers & me) != 0) return;
    page->readers = what == STORE ? me : page->readers | me;
    page->written = what == STORE;
    if (!guest_runs) put(last_note, cpu, NOTE);
    guest_runs = 1;
    put(address >> PAGE, cpu, what);
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *unused) {
    (void)unused;
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    if (where == NULL || qemu_plugin_hwaddr_is_io(where)) return;
    used(cpu, qemu_plugin_hwaddr_phys_addr(where), qemu_plugin_mem_is_store(info) ? STORE : LOAD);
}

static void noted(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *unused) {
    (void)unused;
    uint64_t at = va - state; /* Hyp's memory is at its place */
    if (at >= (size >> PAGE) * 8 || at % 8 != 4 || qemu_plugin_mem_size_shift(info) != 2 || !qemu_plugin_mem_is_store(info))
        return;
    last_note = (begin >> PAGE) + at / 8;
    if (guest_runs) put(last_note, cpu, NOTE);
}

static void fetched(unsigned cpu, void *address) {
    used(cpu, (uint64_t)(uintptr_t)address, FETCH);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t va = qemu_plugin_insn_vaddr(insn), host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn);
        if (va - hyp < HYP_SIZE) {
            host_minus_guest = host - va; /* the same everywhere in RAM */
            qemu_plugin_register_vcpu_mem_cb(insn, noted, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
            continue;
        }
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
        uint64_t address = host - host_minus_guest;
        if (address >> PAGE == last) continue;
        last = address >> PAGE;
        qemu_plugin_register_vcpu_insn_exec_cb(insn, fetched, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)address);
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
        else if (strncmp(argv[n], "hyp=", 4) == 0) hyp = strtoull(value + 1, NULL, 0);
        else if (strncmp(argv[n], "state=", 6) == 0) state = strtoull(value + 1, NULL, 0);
    }
    if (out == NULL || size == 0 || hyp == 0 || state == 0) {
        fputs("move-log: out=FILE, begin, size, hyp and state are needed\n", stderr);
        return -1;
    }
    pages = calloc(size >> PAGE, sizeof *pages);
    if (pages == NULL) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
