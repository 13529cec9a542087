// A plug-in of mmioscope with a filter and an analysis.
#include "mmioscope/plugin.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iomanip>
#include <set>
#include <utility>

namespace {

using mmioscope::Event;
namespace plugin = mmioscope::plugin;

/// Keeps the first access to each address: what a driver touches, in which order.
class FirstAccess final : public plugin::Filter {
public:
    bool keep(const Event& event) override {
        return event.record.type == mmioscope::abi::RecordType::access &&
               seen_.insert(mmioscope::abi::physical_address(event.record)).second;
    }

private:
    std::set<std::uint64_t> seen_;
};

/// How long accesses took, as a histogram of powers of two.
class Latency final : public plugin::Analysis {
public:
    explicit Latency(const plugin::Options& options) {
        for (const auto& [key, value] : options) {
            if (key != "tick") {
                throw std::runtime_error("there is no option '" + key + "' (there is: tick)");
            }
            tick_ = std::stoul(value);
        }
    }

    void add(const Event& event) override {
        if (event.record.type == mmioscope::abi::RecordType::access) {
            const std::uint64_t time = event.record.duration * tick_;
            ++counts_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(time)), 63)];
        }
    }

    void finish(std::ostream& output) override {
        for (std::size_t bits = 0; bits < counts_.size(); ++bits) {
            if (counts_[bits] > 0) {
                output << "below " << std::setw(12) << (std::uint64_t{1} << bits) << " ns "
                       << std::setw(10) << counts_[bits] << '\n';
            }
        }
    }

private:
    std::uint64_t tick_ = 16; ///< ns; QEMU's counter has 62.5 MHz
    std::array<std::uint64_t, 64> counts_{};
};

} // namespace

MMIOSCOPE_PLUGIN(registry) {
    registry.filter("first_access", "The first access to each address",
                    [](const plugin::Options&) { return std::make_unique<FirstAccess>(); });
    registry.analysis(
        "latency", "How long accesses took; tick=NS is a tick of the board's counter",
        [](const plugin::Options& options) { return std::make_unique<Latency>(options); });
}
