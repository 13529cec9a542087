// Of a trace, what concerns one device.
#pragma once

#include "filter/filter.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::reading {

/// Passes on the events of one device, and what may have changed it unseen: losses and resets. A
/// filter of the trace would leave those out, as they are of no device.
class OneDevice final : public Consumer {
public:
    /// `name`: as in a filter (dev==). Throws Error (bad_input) if the trace has no such device.
    OneDevice(const Trace& trace, const std::string& name, Consumer& next)
        : reader_(trace.reader()), device_(filter::of_device(name)), next_(next) {
        if (const auto unknown = bind(); !unknown.empty()) {
            throw bad_input("{}: {}", trace.options().path, unknown.front());
        }
    }

    void add(const Event& event) override {
        if (bound_ != reader_.device_changes()) {
            bind();
        }
        const abi::RecordType type = event.record.type;
        if (type == abi::RecordType::gap || type == abi::RecordType::power || is_of_it(event)) {
            next_.add(event);
        }
    }
    void forget() override {
        device_.forget();
        next_.forget();
    }

private:
    enum class Known : std::uint8_t { nothing, yes, no };

    std::vector<std::string> bind() {
        bound_ = reader_.device_changes();
        known_.assign(reader_.regions().size(), Known::nothing);
        return device_.bind(reader_);
    }

    bool is_of_it(const Event& event) {
        const std::size_t region = event.record.device;
        if (region >= known_.size()) {
            return device_(event);
        }
        if (known_[region] == Known::nothing) {
            known_[region] = device_(event) ? Known::yes : Known::no;
        }
        return known_[region] == Known::yes;
    }

    const trace::TraceReader& reader_;
    std::uint64_t bound_ = 0;
    filter::Filter device_;
    std::vector<Known> known_; ///< by region: cheaper than the filter's result
    Consumer& next_;
};

} // namespace mmioscope::reading
