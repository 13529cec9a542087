/* The interface of QEMU 7.2 (Debian 12) and 10 (Debian 13) to a TCG plugin, as far as it is used here. Debian does not
 * package its header, so it is declared from QEMU's documentation of it (docs/devel/tcg-plugins): names and types are
 * its. What differs is behind functions of our own: executed_count(), count_execution(), instruction_bytes().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *),
                                          enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *),
                                            enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                      void (*)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *),
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw, void *);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

#if QEMU_MAJOR >= 10
#define API_VERSION 4
struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
uint64_t qemu_plugin_u64_sum(qemu_plugin_u64);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, enum qemu_plugin_op, qemu_plugin_u64,
                                                         uint64_t);
static qemu_plugin_u64 executed_by_cpu;
static inline void count_execution(struct qemu_plugin_insn *insn) {
    if (executed_by_cpu.score == NULL) executed_by_cpu.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64, executed_by_cpu, 1);
}
static inline uint64_t executed_count(void) {
    return executed_by_cpu.score == NULL ? 0 : qemu_plugin_u64_sum(executed_by_cpu);
}
static inline void instruction_bytes(const struct qemu_plugin_insn *insn, void *to, size_t size) {
    qemu_plugin_insn_data(insn, to, size);
}
#else
#define API_VERSION 1
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, enum qemu_plugin_op, void *, uint64_t);
static uint64_t executions;
static inline void count_execution(struct qemu_plugin_insn *insn) {
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executions, 1);
}
static inline uint64_t executed_count(void) {
    return executions;
}
static inline void instruction_bytes(const struct qemu_plugin_insn *insn, void *to, size_t size) {
    memcpy(to, qemu_plugin_insn_data(insn), size);
}
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_install(qemu_plugin_id_t, const void *info, int argc, char **argv);
