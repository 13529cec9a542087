#include "linux/caller_watch.hpp"

namespace mmioscope::linux_guest {

namespace {

// The entry goes on with this record. cpu_sequence begins anew after 2^32 records, entries do not.
bool goes_on(const trace::CallerEntry& entry, const abi::Record& record, std::uint32_t caller) {
    return entry.caller == caller && record.cpu_sequence != 0 &&
           entry.first_sequence + entry.count == record.cpu_sequence;
}

} // namespace

void CallerWatch::see(std::span<const trace::Run> runs, std::vector<trace::CallerEntry>& entries) {
    last_.fill(none);
    finder_.look_anew();
    for (const trace::Run& run : runs) {
        if (run.first->type == abi::RecordType::task) {
            finder_.pass(*run.first);
        } else if (trace::in_kernel(*run.first)) {
            see(run, entries);
        }
    }
}

void CallerWatch::see(const trace::Run& run, std::vector<trace::CallerEntry>& entries) {
    std::size_t& at = last_[run.first->cpu];
    CallerFinder::Found found;
    for (auto records = run.records(); !records.empty(); records = records.subspan(found.count)) {
        found = finder_.find(records);
        if (!found.caller) {
            continue;
        }
        std::size_t told = 0;
        if (at == none || !goes_on(entries[at], records.front(), *found.caller)) {
            told = found.told_by_lr;
            if (told == found.count) {
                continue;
            }
            at = entries.size();
            entries.push_back({records.front().cpu, records[told].cpu_sequence, 0, *found.caller});
        }
        entries[at].count += static_cast<std::uint32_t>(found.count - told);
    }
}

} // namespace mmioscope::linux_guest
