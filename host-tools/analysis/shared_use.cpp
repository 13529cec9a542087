#include "analysis/shared_use.hpp"

#include "records/task_table.hpp"
#include "records/ticks.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>
#include <string_view>

namespace mmioscope::analysis {

namespace {

// Those with a copy for each CPU, and how many of each (IHI 0048B 4.3).
struct Banked {
    std::string_view name;
    std::string_view last; ///< the highest number with copies, one digit
};
constexpr Banked banked[] = {
    {"GICD_IGROUPR", "0"},   {"GICD_ISENABLER", "0"}, {"GICD_ICENABLER", "0"},
    {"GICD_ISPENDR", "0"},   {"GICD_ICPENDR", "0"},   {"GICD_ISACTIVER", "0"},
    {"GICD_ICACTIVER", "0"}, {"GICD_ICFGR", "1"},     {"GICD_IPRIORITYR", "7"},
    {"GICD_ITARGETSR", "7"}, {"GICD_NSACR", "1"},     {"GICD_CPENDSGIR", "3"},
    {"GICD_SPENDSGIR", "3"},
};

} // namespace

bool is_banked(const Register* reg) {
    if (reg == nullptr) {
        return false;
    }
    const std::string_view name = reg->name;
    return name.starts_with("GICC_") || std::ranges::any_of(banked, [name](const Banked& one) {
               return name.size() == one.name.size() + 1 && name.starts_with(one.name) &&
                      name.back() <= one.last.front();
           });
}

bool SharedUses::add(const Event& event) {
    const abi::Record& record = event.record;
    const std::uint64_t thing = abi::physical_address(record) >> shift_;
    Live& live = live_.of(thing);
    if (!live.used || live_.is_rest(live)) {
        live.used = true;
        live.banked = is_banked(event.reg());
    }
    if (live.banked) {
        return false;
    }
    Use& use = live.use;
    if (live.follows && use.last.number != 0 && use.last.record.cpu != record.cpu) {
        const std::uint64_t apart = trace::elapsed(use.last.nanoseconds, event.nanoseconds);
        if (apart < use.closest) {
            use.closest = apart;
            use.earlier = use.last;
            keep_unnamed(use.later, event);
        }
    }
    use.cpus.set(record.cpu);
    keep_unnamed(use.last, event);
    live.follows = true;
    if (abi::is_write(record)) {
        ++use.writes;
        use.first_write = std::min(use.first_write, event.number);
    } else {
        ++use.reads;
        use.last_read = event.number;
    }
    return true;
}

void SharedUses::cut() {
    for (auto& [thing, live] : live_.held()) {
        live.follows = false;
    }
}

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
