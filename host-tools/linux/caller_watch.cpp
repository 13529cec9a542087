#include "linux/caller_watch.hpp"

#include <array>

namespace mmioscope::linux_guest {

namespace {

// The entry goes on with this record. cpu_sequence begins anew after 2^32 records, entries do not.
bool goes_on(const trace::CallerEntry& entry, const abi::Record& record, std::uint32_t caller) {
    return entry.caller == caller && record.cpu_sequence != 0 &&
           entry.first_sequence + entry.count == record.cpu_sequence;
}

} // namespace

void CallerWatch::see(std::span<const abi::Record> records,
                      std::vector<trace::CallerEntry>& entries) {
    constexpr std::size_t none = -1;
    std::array<std::size_t, 256> last; // entry of each CPU
    last.fill(none);
    finder_.look_anew();
    for (const abi::Record& record : records) {
        if (record.type == abi::RecordType::task) {
            finder_.pass(record);
            continue;
        }
        const std::optional<std::uint32_t> caller =
            trace::in_kernel(record) ? finder_.find(record) : std::nullopt;
        if (!caller) {
            continue;
        }
        std::size_t& at = last[record.cpu];
        if (at != none && goes_on(entries[at], record, *caller)) {
            ++entries[at].count;
        } else if (*caller != record.lr) {
            at = entries.size();
            entries.push_back({record.cpu, record.cpu_sequence, 1, *caller});
        }
    }
}

} // namespace mmioscope::linux_guest
