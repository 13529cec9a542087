#include "records/shares.hpp"

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

table::Table Shares::table(const ReportContext& context) const {
    using enum table::Look;
    table::Table table{{{"", "device", device, 28},
                        {"", "cpu", number, 4},
                        {"", "accesses", number, 10},
                        {"", "share", number, 7, 1, "%"},
                        {"", "most others", number, 12},
                        {"", "longest pause s", number, 15}},
                       {}};
    for (const auto& [device, cpus] : devices_) {
        if (cpus.size() < 2) {
            continue;
        }
        std::uint64_t all = 0;
        for (const auto& [cpu, share] : cpus) {
            all += share.accesses;
        }
        for (const auto& [cpu, share] : cpus) {
            const double part = static_cast<double>(share.accesses) / static_cast<double>(all);
            table.rows.push_back({(*context.names)[device], std::uint64_t{cpu}, share.accesses,
                                  100 * part, std::uint64_t{share.most_between},
                                  format_duration(share.longest_pause, context)});
        }
    }
    return table;
}

} // namespace mmioscope::trace
