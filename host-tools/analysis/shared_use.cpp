#include "analysis/shared_use.hpp"

#include "records/ticks.hpp"

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

} // namespace mmioscope::analysis
