// Which traced accesses become records: the filter and the trigger that each of them has to pass.
#pragma once

#include "abi/control.hpp"
#include "choice/filter.hpp"
#include "choice/trigger.hpp"
#include "trace/ring_writer.hpp"

namespace mmioscope {

struct Choice final : Chooser {
    Filter filter;
    Trigger trigger;

    Verdict choose(const abi::Record& record, std::uint32_t& passed) override {
        const Verdict verdict = trigger.see(record);
        if (verdict != Verdict::pass) return verdict;
        return filter.pattern.matches(record) && passed++ % filter.one_in == 0 ? Verdict::pass
                                                                               : Verdict::hold;
    }
    bool surely_takes(const abi::Record& begin, bool several) const override {
        return !trigger.active() && filter.one_in == 1 &&
               filter.pattern.surely_matches(begin, several);
    }
    bool may_count(std::uint64_t at, unsigned size) const override {
        return trigger.armed() && (size == 0 || trigger.pattern.touches(at, size));
    }
    bool holds_all() const override { return trigger.holds(); }
    /// That the trigger fired.
    abi::Record notice() const override {
        return event_record(abi::RecordType::configuration, abi::control::fired, trigger.tag());
    }
};

} // namespace mmioscope
