#include "analysis/open_interrupts.hpp"

#include "analysis/shared_use.hpp"
#include "records/task_table.hpp"
#include "registers/interrupt_names.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

namespace {

// GICC_IAR, GICC_AIAR; GICC_EOIR, GICC_AEOIR (IHI 0048B 4.4). DIR alone ends no interrupt.
bool acknowledges(const Event& event) {
    return !abi::is_write(event.record) && (event.offset() == 0x0c || event.offset() == 0x20);
}
bool ends(const Event& event) {
    return abi::is_write(event.record) && (event.offset() == 0x10 || event.offset() == 0x24);
}

// With the CPU that an SGI came from: both are part of what is ended.
std::uint64_t interrupt_and_source(const abi::Record& record) {
    return record.value & 0x1fff;
}

// What the CPU pushed for the interrupt is off the stack, or another stack is in use. A privileged
// mode other than the acknowledging one has a stack of its own and says nothing.
bool has_left(const abi::Record& acknowledge, const abi::Record& now) {
    constexpr std::int64_t frame = 64;    ///< bytes: r0 to r12, LR, PC and CPSR
    constexpr std::int64_t stack = 8'192; ///< bytes; no handler uses more (Linux: THREAD_SIZE)
    constexpr std::uint8_t mode = 0x1f;
    if (trace::in_user_mode(now)) {
        return true;
    }
    const std::int64_t above = std::int64_t{now.sp} - acknowledge.sp;
    return (now.mode & mode) == (acknowledge.mode & mode) && (above >= frame || above < -stack);
}

} // namespace

bool acknowledges_interrupt(const Event& event) {
    return acknowledges(event) && event.interrupt_id() != no_id &&
           registers::interrupt_of(event.record.value) < registers::first_special_interrupt;
}

bool OpenInterrupts::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::power) {
        power(record);
        return false;
    }
    if (record.type != abi::RecordType::access) {
        return false;
    }
    if (event.interrupt_id() != no_id) {
        if (acknowledges(event)) {
            acknowledge(event);
            return true;
        }
        if (ends(event)) {
            end(record);
        }
        return false;
    }
    std::vector<Open>& open = open_[record.cpu];
    if (!open.empty() && !open.back().left) {
        open.back().left = has_left(open.back().acknowledge.record, record);
    }
    return false;
}

// A CPU gets an interrupt again only if the one before was ended, or taken from it by force.
void OpenInterrupts::acknowledge(const Event& event) {
    const abi::Record& record = event.record;
    if (!acknowledges_interrupt(event)) {
        return;
    }
    std::vector<Open>& open = open_[record.cpu];
    const std::uint64_t what = interrupt_and_source(record);
    std::erase_if(open, [&](const Open& one) {
        const bool again = interrupt_and_source(one.acknowledge.record) == what;
        if (again) {
            take_(one.acknowledge);
        }
        return again;
    });
    if (open.size() < most_nested) {
        open.push_back({unnamed(event), false});
    }
}

void OpenInterrupts::end(const abi::Record& record) {
    std::erase_if(open_[record.cpu], [&](const Open& one) {
        return interrupt_and_source(one.acknowledge.record) == interrupt_and_source(record);
    });
}

void OpenInterrupts::power(const abi::Record& record) {
    switch (static_cast<abi::PowerEvent>(record.value >> 8 & 0xff)) {
    case abi::PowerEvent::cpu_on: open_[record.value & 0xff].clear(); return;
    case abi::PowerEvent::cpu_off: open_[record.cpu].clear(); return;
    default: return;
    }
}

void OpenInterrupts::cut() {
    for (std::vector<Open>& open : open_) {
        open.clear();
    }
}

void OpenInterrupts::finish() {
    for (std::vector<Open>& open : open_) {
        for (const Open& one : open) {
            if (one.left) {
                take_(one.acknowledge);
            }
        }
        open.clear();
    }
}

} // namespace mmioscope::analysis
