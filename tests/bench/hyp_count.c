/* A TCG plugin for QEMU: how often each instruction of the hypervisor is executed, by the path that it is part of.
 *
 *   qemu-system-arm ... -plugin file=build/tests/hyp-count.so,out=FILE,text=BEGIN-END[,mark=PC][,own=PAGE][,all=on]
 *
 * text: addresses of the hypervisor's code; mark: where the guest executes this address a new section begins; own: a
 * page of registers that are the hypervisor's, not the guest's; all: count whatever is executed, too (one CPU).
 *
 * A path is what one CPU executes of that code from where it enters to the ERET that leaves it. What it was follows
 * from what it did to the machine, not from names:
 *
 *   start     up to a CPU's first ERET
 *   begun     VTTBR is no longer what it was: the guest carries out an access itself, with another table
 *   finished  and is again
 *   emulated  an access to a device that is not the hypervisor's own
 *   other     the rest
 *   long      any but start, of more than 100,000 instructions: a look at all checksums
 *   cut       the machine ended in it
 *
 * Exceptions of the hypervisor itself are part of the path they come in. Waiting is what lies between two
 * loads-exclusive by one instruction of one address, if no store-exclusive was tried in between.
 *
 * Guest code at a virtual address within the text is not counted: the text has one place in QEMU's memory, that of the
 * first instruction seen, which the machine enters with its MMU off.
 */
#include "../qemu/qemu_plugin.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = API_VERSION;

enum { CPUS = 8, SECTIONS = 32 };
enum kind { START, BEGUN, FINISHED, EMULATED, OTHER, LONG, CUT, KINDS };
static const char *const kinds[] = {"start", "begun", "finished", "emulated", "other", "long", "cut"};
/* So many instructions are no access and no answer to one. */
enum { LONGEST = 100000 };

/* Of one kind of path, in one section. */
struct sum {
    uint64_t paths, exceptions, instructions, waiting, least, most;
    uint64_t *counts;       /* of each halfword of the text: how often executed */
    uint32_t *of_the_worst; /* the same, in the longest path */
};
static struct sum sums[SECTIONS][KINDS];
static unsigned section;

/* What a CPU is in, or has left last. */
struct path {
    bool inside, started, shadow, new_shadow, device;
    unsigned nested; /* exceptions of the hypervisor that are not over */
    uint64_t exceptions, instructions, waiting;
    uint64_t since_load; /* instructions behind the last load-exclusive; by which and of what: */
    size_t load;
    uint64_t loaded;
    size_t left_at; /* its ERET */
    size_t touched; /* how many halfwords */
    size_t *which;
    uint32_t *counts;
};
static struct path paths[CPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t begin, end, mark, own;
static size_t halfwords, vectors = SIZE_MAX;
static uint8_t *sizes; /* of the instruction at each halfword, 0: not seen */
static uint32_t *words;
static const char *out;
static bool all;
static const char *place; /* of the text's begin, in QEMU's memory */

static enum kind kind_of(struct path *path) {
    if (path->started && path->instructions > LONGEST) return LONG;
    if (path->inside) return CUT;
    if (!path->started) return START;
    if (path->new_shadow != path->shadow) return path->new_shadow ? BEGUN : FINISHED;
    return path->device ? EMULATED : OTHER;
}

/* A path that was left is over: where the ERET was conditional, that shows only when the next one begins. */
static void add_up(struct path *path) {
    if (path->touched == 0) return;
    pthread_mutex_lock(&lock);
    struct sum *sum = &sums[section][kind_of(path)];
    if (sum->counts == NULL) {
        sum->counts = calloc(halfwords, sizeof *sum->counts);
        sum->of_the_worst = calloc(halfwords, sizeof *sum->of_the_worst);
        sum->least = UINT64_MAX;
    }
    sum->paths += 1;
    sum->exceptions += path->exceptions;
    sum->instructions += path->instructions;
    sum->waiting += path->waiting;
    if (path->instructions < sum->least) sum->least = path->instructions;
    bool worst = path->instructions > sum->most;
    if (worst) {
        sum->most = path->instructions;
        memset(sum->of_the_worst, 0, halfwords * sizeof *sum->of_the_worst);
    }
    for (size_t n = 0; n < path->touched; ++n) {
        size_t at = path->which[n];
        sum->counts[at] += path->counts[at];
        if (worst) sum->of_the_worst[at] = path->counts[at];
        path->counts[at] = 0;
    }
    pthread_mutex_unlock(&lock);
    path->shadow = path->started && path->new_shadow; /* what start-up wrote is the normal table */
    path->new_shadow = path->shadow;
    path->started = true;
    path->touched = 0;
    path->exceptions = path->instructions = path->waiting = 0;
    path->device = false;
    path->load = SIZE_MAX;
}

static bool is_vector(size_t at) {
    return vectors != SIZE_MAX && at - vectors < 16; /* eight words */
}

/* Code is entered at a vector, or falls into it from the one before: only the first begins a block. */
static void entered(struct path *path, size_t at, bool begins_block) {
    if (!path->inside && path->touched != 0 && at == path->left_at + 2) {
        path->inside = true; /* the ERET's condition did not hold */
        return;
    }
    if (!path->inside) {
        add_up(path);
        if (path->started && vectors == SIZE_MAX) vectors = at & ~(size_t)15; /* HVBAR: 32-byte aligned */
        if (path->started && !is_vector(at)) path->started = path->shadow = path->new_shadow = false; /* came back on */
        path->inside = true;
        path->exceptions = path->started;
    } else if (begins_block && is_vector(at)) {
        ++path->nested;
        ++path->exceptions;
    }
}

static struct path *count(unsigned cpu, void *data) {
    struct path *path = &paths[cpu % CPUS];
    size_t at = (uintptr_t)data >> 1;
    if (!path->inside || is_vector(at)) entered(path, at, (uintptr_t)data & 1);
    if (path->counts == NULL) {
        path->counts = calloc(halfwords, sizeof *path->counts);
        path->which = calloc(halfwords, sizeof *path->which);
        path->load = SIZE_MAX;
    }
    if (path->counts[at]++ == 0) path->which[path->touched++] = at;
    ++path->instructions;
    ++path->since_load;
    return path;
}

static void executed(unsigned cpu, void *data) {
    count(cpu, data);
}

static void executed_eret(unsigned cpu, void *data) {
    struct path *path = count(cpu, data);
    if (path->nested > 0) {
        --path->nested;
    } else {
        path->inside = false;
        path->left_at = (uintptr_t)data >> 1;
    }
}

static void executed_vttbr(unsigned cpu, void *data) {
    struct path *path = count(cpu, data);
    path->new_shadow = !path->new_shadow;
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *data) {
    (void)data;
    struct path *path = &paths[cpu % CPUS];
    if (!path->started || path->device || (own != 0 && (va & ~UINT64_C(4095)) == own)) return;
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    path->device = where != NULL && qemu_plugin_hwaddr_is_io(where);
}

static void loaded_exclusive(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *data) {
    (void)info;
    struct path *path = &paths[cpu % CPUS];
    size_t at = (uintptr_t)data;
    if (path->load == at && path->loaded == va) path->waiting += path->since_load;
    path->load = at;
    path->loaded = va;
    path->since_load = 0;
}

/* Tried, not only passed by: a condition that does not hold accesses nothing. */
static void stored_exclusive(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *data) {
    (void)info, (void)va, (void)data;
    paths[cpu % CPUS].load = SIZE_MAX;
}

static void marked(unsigned cpu, void *data) {
    (void)data;
    add_up(&paths[cpu % CPUS]);
    if (section + 1 < SECTIONS) ++section;
}

/* What is looked for is told by its bits alone, of either instruction set; the script checks that no other instruction of
 * the hypervisor has them. ERET: in ARM code only. */
static bool is_eret(uint32_t word) {
    return (word & 0x0fffffff) == 0x0160006e;
}
/* MCRR of ARM, with any condition, or of Thumb, whose first half comes first in memory; so do LDREX and STREX. */
static bool writes_vttbr(uint32_t word) {
    return (word & 0x0ff00fff) == 0x0c400f62 || (word & 0x0ffffff0) == 0x0f62ec40;
}
static bool is_ldrex(uint32_t word) {
    return (word & 0x0f900ff0) == 0x01900f90 || (word & 0x0ffffff0) == 0x0f00e850;
}
static bool is_strex(uint32_t word) {
    return (word & 0x0f900ff0) == 0x01800f90 || (word & 0x00fffff0) == 0x0000e840;
}

static void translated_own(struct qemu_plugin_insn *insn, size_t at, bool begins_block) {
    void *data = (void *)(uintptr_t)(at << 1 | begins_block);
    uint32_t word = 0;
    sizes[at] = (uint8_t)qemu_plugin_insn_size(insn);
    instruction_bytes(insn, &word, sizes[at]);
    words[at] = word;
    bool whole = sizes[at] == sizeof word;
    qemu_plugin_register_vcpu_insn_exec_cb(insn,
                                           whole && is_eret(word)        ? executed_eret
                                           : whole && writes_vttbr(word) ? executed_vttbr
                                                                         : executed,
                                           QEMU_PLUGIN_CB_NO_REGS, data);
    if (whole && (is_ldrex(word) || is_strex(word)))
        qemu_plugin_register_vcpu_mem_cb(insn, is_ldrex(word) ? loaded_exclusive : stored_exclusive,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)at);
    else qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = qemu_plugin_insn_vaddr(insn);
        if (all) count_execution(insn);
        if (mark != 0 && at == mark) qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS, NULL);
        if (at < begin || at >= end) continue;
        const char *here = qemu_plugin_insn_haddr(insn);
        if (place == NULL) place = here - (at - begin);
        if (here == place + (at - begin)) translated_own(insn, (at - begin) / 2, i == 0);
    }
}

static void print_sum(FILE *file, const struct sum *sum) {
    fprintf(file,
            "{\"paths\": %" PRIu64 ", \"exceptions\": %" PRIu64 ", \"instructions\": %" PRIu64 ", \"waiting\": %" PRIu64
            ", \"least\": %" PRIu64 ", \"most\": %" PRIu64 ",\n  \"counts\": [",
            sum->paths, sum->exceptions, sum->instructions, sum->waiting, sum->least, sum->most);
    const char *comma = "";
    for (size_t at = 0; at < halfwords; ++at)
        if (sum->counts[at] != 0) { /* address, how often, how often in the longest path */
            fprintf(file, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu32 "]", comma, begin + 2 * at, sum->counts[at],
                    sum->of_the_worst[at]);
            comma = ", ";
        }
    fprintf(file, "]}");
}

static void ended(qemu_plugin_id_t id, void *unused) {
    (void)id, (void)unused;
    for (unsigned cpu = 0; cpu < CPUS; ++cpu) add_up(&paths[cpu]);
    FILE *file = fopen(out, "w");
    if (file == NULL) {
        perror(out);
        return;
    }
    fprintf(file, "{\"executed\": %" PRIu64 ",\n\"code\": {", executed_count());
    const char *comma = "";
    for (size_t at = 0; at < halfwords; ++at)
        if (sizes[at] != 0) {
            fprintf(file, "%s\"%" PRIu64 "\": [%u, %" PRIu32 "]", comma, begin + 2 * at, sizes[at], words[at]);
            comma = ", ";
        }
    fprintf(file, "},\n\"sections\": [");
    for (unsigned n = 0; n <= section; ++n) {
        fprintf(file, "%s{", n == 0 ? "" : ",\n");
        comma = "";
        for (unsigned kind = 0; kind < KINDS; ++kind)
            if (sums[n][kind].paths != 0) {
                fprintf(file, "%s\"%s\": ", comma, kinds[kind]);
                print_sum(file, &sums[n][kind]);
                comma = ",\n ";
            }
        fprintf(file, "}");
    }
    fprintf(file, "]}\n");
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (sscanf(argv[i], "text=%" SCNi64 "-%" SCNi64, &begin, &end) == 2) continue;
        if (sscanf(argv[i], "mark=%" SCNi64, &mark) == 1 || sscanf(argv[i], "own=%" SCNi64, &own) == 1) continue;
        if (strncmp(argv[i], "out=", 4) == 0) out = argv[i] + 4;
        else if (strcmp(argv[i], "all=on") == 0) all = true;
        else fprintf(stderr, "hyp-count: what is %s?\n", argv[i]);
    }
    if (out == NULL || (begin >= end && !all)) {
        fputs("hyp-count: text=BEGIN-END or out=FILE is missing\n", stderr);
        return -1;
    }
    halfwords = (end - begin) / 2;
    sizes = calloc(halfwords, sizeof *sizes);
    words = calloc(halfwords, sizeof *words);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
