#include "lib/shares.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

void Shares::add(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        if (record.type != abi::RecordType::access) {
            continue;
        }
        Share& share = devices_[record.device][record.cpu];
        if (share.accesses > 0) {
            share.most_between =
                std::max(share.most_between, record.lock_sequence - share.last_sequence - 1);
            share.longest_pause =
                std::max(share.longest_pause, record.time - std::min(record.time, share.last_end));
        }
        ++share.accesses;
        share.last_sequence = record.lock_sequence;
        share.last_end = record.time + record.duration;
    }
}

std::string Shares::table(const ReportContext& context) const {
    std::string table = fmt::format("{:<28} {:>4} {:>10} {:>7} {:>12} {:>15}\n", "device", "cpu",
                                    "accesses", "share", "most others", "longest pause s");
    const double ticks_per_second = context.frequency > 0 ? context.frequency : 1;
    for (const auto& [device, cpus] : devices_) {
        if (cpus.size() < 2) {
            continue;
        }
        std::uint64_t all = 0;
        for (const auto& [cpu, share] : cpus) {
            all += share.accesses;
        }
        for (const auto& [cpu, share] : cpus) {
            table += fmt::format(
                "{:<28} {:>4} {:>10} {:>6.1f}% {:>12} {:>15.6f}\n", (*context.names)[device], cpu,
                share.accesses,
                100.0 * static_cast<double>(share.accesses) / static_cast<double>(all),
                share.most_between, static_cast<double>(share.longest_pause) / ticks_per_second);
        }
    }
    return table;
}

} // namespace mmioscope::trace
