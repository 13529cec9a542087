// One boot of a machine, from its stream: its description, its records, and how it ended.
#pragma once

#include "records/losses.hpp"
#include "records/summary.hpp"
#include "tree/device_names.hpp"
#include "wire/stream_head.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::record {

class Boot {
public:
    /// `tree`: of its board; it names the devices.
    Boot(const wire::StreamHead& head, std::vector<std::byte> tree);

    void add(std::span<const abi::Record> records);
    void others(std::span<const std::uint32_t> of_cpus) {
        others_.assign(of_cpus.begin(), of_cpus.end());
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics);
    void unfinished(std::span<const abi::UnfinishedAccess> accesses) {
        unfinished_.assign(accesses.begin(), accesses.end());
    }

    /// How the sender said that it ended; nothing if it did not say.
    const std::optional<abi::EndHeader>& ended() const { return end_; }
    /// The accesses in whose middle its CPUs were at that end.
    std::span<const abi::UnfinishedAccess> unfinished() const { return unfinished_; }

    const wire::StreamHead& head() const { return head_; }
    std::span<const std::byte> tree() const { return tree_; }
    const trace::Summary& summary() const { return summary_; }
    const trace::LossCounter& losses() const { return losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }

    /// The table of devices, as view::fitted_text() shows it, other records and statistics, as
    /// lines. `own` includes the hypervisor's own accesses and counters.
    std::string tables(bool own, std::size_t width) const;

private:
    wire::StreamHead head_;
    std::vector<std::byte> tree_;
    tree::DeviceNames names_;
    trace::LossCounter losses_;
    trace::Summary summary_;
    std::optional<abi::EndHeader> end_;
    std::vector<abi::Statistics> statistics_;
    std::vector<abi::UnfinishedAccess> unfinished_;
    std::vector<std::uint32_t> others_; ///< of the next end
};

/// The ending of a trace file for a boot that ended for this `reason`.
abi::Ending ending_of(abi::StreamEnd reason);

} // namespace mmioscope::record
