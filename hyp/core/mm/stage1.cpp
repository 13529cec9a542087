#include "mm/stage1.hpp"

#include "arch/control.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

void change_stage1(const TranslationTable& table) {
    port::write<reg::HMAIR0>(arch::hmair0);
    port::write<reg::HMAIR1>(0);
    port::write<reg::HTCR>(arch::htcr);
    port::write<reg::HTTBR>(table.root().value);
    port::complete_all();
    port::synchronize_context();
    port::write<reg::TLBIALLH>(0);
    port::write<reg::ICIALLU>(0);
    port::complete_local();
    port::synchronize_context();
}

void enable_stage1(const TranslationTable& table, PhysicalAddress stack_end) {
    change_stage1(table);
    port::mmu_on(arch::hsctlr_on, stack_end);
}

} // namespace mmioscope
