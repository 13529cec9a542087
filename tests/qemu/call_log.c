/* A TCG plugin for QEMU: which call each device access is in, by the calls and returns that QEMU carries out.
 *
 *   qemu-system-arm ... -plugin file=build/tests/call-log.so,out=FILE[,switch=ADDRESS,fork=ADDRESS]
 *
 * A line for each access that ARM code of the kernel or its modules makes to a device, in each CPU's order:
 *
 *   CPU R|W ADDRESS PC ENTRY RETURN      1 R 0x1c050080 0xc0e1aa08 0xc0e1a9ec 0xbf00fb7c
 *
 * RETURN is behind the last call that has not returned, ENTRY where that one went; 0 0 if there is none. It is the call
 * that PC's function is in if ENTRY is the start of that function: a function may have been come to by a branch, and
 * what a task called before another one had its CPU is not known afterwards.
 *
 * Where it comes to the HVC of a probe, a line `CPU C 0x0 PC ENTRY RETURN` follows, again if the HVC is executed again.
 *
 * With the addresses of __switch_to and ret_from_fork, where a CPU goes on with another task, each line goes on with the
 * return addresses of the calls that this task has made since then, the innermost first, at most MOST.
 */
#include "qemu_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8, DEPTH = 4096, MOST = 32 };
enum { BASE = 0xbf000000u, SIZE = 0x4000000u }; /* modules, and the kernel's text */

EXPORT int qemu_plugin_version = API_VERSION;

struct call {
    uint32_t entry, back;
};

/* What one CPU does; only its own thread uses it. */
struct cpu {
    struct call stack[DEPTH];
    unsigned depth, unknown; /* as many of the first may be another task's */
    struct call begun; /* entry 0: a register tells it; back 0: there is none */
};

static struct cpu cpus[CPUS];
static uint8_t *returned_to; /* by word: calls return there */
static uint32_t switch_to, from_fork; /* 0: not given */
static FILE *out;

static bool is_code(uint64_t address) {
    return address >= BASE && address < BASE + (uint64_t)SIZE;
}

static void push(struct cpu *cpu, uint32_t entry, uint32_t back) {
    if (cpu->depth == DEPTH) { /* the oldest are of tasks that have gone */
        memmove(cpu->stack, cpu->stack + DEPTH / 2, sizeof cpu->stack / 2);
        cpu->depth /= 2;
        cpu->unknown = cpu->unknown < DEPTH / 2 ? 0 : cpu->unknown - DEPTH / 2;
    }
    cpu->stack[cpu->depth++] = (struct call){entry, back};
    returned_to[(back - BASE) / 4] = 1;
}

/* Code begins to run at `data`: called, returned to, or neither. */
static void entered(unsigned number, void *data) {
    struct cpu *cpu = &cpus[number % CPUS];
    uint32_t at = (uint32_t)(uintptr_t)data;
    struct call begun = cpu->begun;
    cpu->begun.back = 0;
    if (begun.back != 0 && at != begun.back) {
        bool there = begun.entry == 0 || begun.entry == at; /* else an interrupt came before its first instruction */
        push(cpu, there ? at : begun.entry, begun.back);
        if (there && at == switch_to) cpu->unknown = cpu->depth;
        if (there) return;
    }
    if (at == from_fork) cpu->unknown = cpu->depth;
    if (!returned_to[(at - BASE) / 4]) return;
    /* A task's own calls return one by one. Others come to such a place, too: an access behind a call, done again. */
    unsigned last = switch_to != 0 && cpu->depth > cpu->unknown ? cpu->depth - 1 : 0;
    for (unsigned i = cpu->depth; i > last; --i)
        if (cpu->stack[i - 1].back == at) {
            cpu->depth = i - 1;
            if (cpu->unknown > cpu->depth) cpu->unknown = cpu->depth;
            return;
        }
}

/* In front of a call; a conditional one may not be done. `data`: its address and its word. */
static void called(unsigned number, void *data) {
    uint64_t both = (uint64_t)(uintptr_t)data;
    uint32_t at = (uint32_t)(both >> 32), word = (uint32_t)both;
    bool direct = (word & 0x0f000000) == 0x0b000000;
    uint32_t target = at + 8 + (uint32_t)((int32_t)(word << 8) >> 6);
    cpus[number % CPUS].begun = (struct call){direct ? target : 0, at + 4};
}

static void write_line(unsigned number, char what, uint64_t address, void *pc) {
    const struct cpu *cpu = &cpus[number % CPUS];
    struct call call = cpu->depth == 0 ? (struct call){0, 0} : cpu->stack[cpu->depth - 1];
    char others[12 * MOST + 1] = "";
    unsigned least = cpu->depth > MOST && cpu->unknown < cpu->depth - MOST ? cpu->depth - MOST : cpu->unknown;
    int length = 0;
    for (unsigned i = cpu->depth; switch_to != 0 && i > least; --i)
        length += sprintf(others + length, " 0x%" PRIx32, cpu->stack[i - 1].back);
    fprintf(out, "%u %c 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx32 " 0x%" PRIx32 "%s\n", number, /* whole: stdio locks */
            what, address, (uint64_t)(uintptr_t)pc, call.entry, call.back, others);
}

/* Behind the access, if that did not fault. */
static void accessed(unsigned number, qemu_plugin_meminfo_t info, uint64_t va, void *pc) {
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    if (where != NULL && qemu_plugin_hwaddr_is_io(where))
        write_line(number, qemu_plugin_mem_is_store(info) ? 'W' : 'R', qemu_plugin_hwaddr_phys_addr(where), pc);
}

static void at_probe(unsigned number, void *pc) { write_line(number, 'C', 0, pc); }

static bool is_call(uint32_t word) {
    bool direct = (word & 0x0f000000) == 0x0b000000, by_register = (word & 0x0ffffff0) == 0x012fff30;
    return word >> 28 != 15 && (direct || by_register);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    if (!is_code(qemu_plugin_tb_vaddr(tb))) return;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)qemu_plugin_tb_vaddr(tb));
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = qemu_plugin_insn_vaddr(insn);
        uint32_t word;
        if (qemu_plugin_insn_size(insn) != sizeof word) continue;
        instruction_bytes(insn, &word, sizeof word);
        if ((word & 0xfff000f0u) == 0xe1400070u && (word & 0xfff0fu) != 0) /* HVC #n, other than PSCI's */
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_probe, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)at);
        if (is_call(word))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, called, QEMU_PLUGIN_CB_NO_REGS,
                                                   (void *)(uintptr_t)(at << 32 | word));
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)at);
    }
}

static void ended(qemu_plugin_id_t id, void *unused) {
    (void)id, (void)unused;
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    if (argc < 1 || strncmp(argv[0], "out=", 4) != 0) {
        fputs("call-log: out=FILE is missing\n", stderr);
        return -1;
    }
    for (int i = 1; i < argc; ++i) {
        uint32_t *to = strncmp(argv[i], "switch=", 7) == 0 ? &switch_to : &from_fork;
        *to = (uint32_t)strtoul(strchr(argv[i], '=') + 1, NULL, 0);
    }
    out = fopen(argv[0] + 4, "w");
    returned_to = calloc(SIZE / 4, 1);
    if (out == NULL || returned_to == NULL) {
        perror(argv[0] + 4);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
