#include "analysis/read_backs.hpp"

#include "analysis/shared_use.hpp"
#include "records/kinds.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::analysis {

void ReadBacks::add(const Event& event, Thread thread) {
    const abi::Record& record = event.record;
    Site& site = sites_.of(place_of(record));
    const bool known = trace::value_known(record) && !sites_.is_rest(site);
    if (recent_.size() >= most_threads) {
        cut(); // sites miss a read, and are not told
    }
    Recent& recent = recent_[thread];
    const abi::Record& last = recent.event.record;
    const bool same = abi::physical_address(last) == abi::physical_address(record);
    Site* const written = std::exchange(recent.written, nullptr);
    if (abi::is_write(record)) {
        if (written != nullptr && !abi::is_write(last) && same) {
            --written->followed; // the read was the first half of a change
        }
        ++site.writes;
        recent.written = known ? &site : nullptr;
    } else {
        site.changed |= !known || (site.reads++ > 0 && site.value != record.value);
        site.value = record.value;
        if (written != nullptr && abi::is_write(last) && last.device == record.device &&
            (!same || last.value == record.value)) {
            if (written->followed == 0) {
                keep_unnamed(written->write, recent.event);
                keep_unnamed(written->read, event);
            }
            if (place_of(written->read.record) == place_of(record)) {
                recent.written = written;
                ++written->followed;
                written->ticks += record.duration;
            }
        }
    }
    keep_unnamed(recent.event, event);
}

std::vector<const ReadBacks::Site*> ReadBacks::found() const {
    std::vector<const Site*> all;
    for (const auto& [place, site] : sites_.held()) {
        const auto read = sites_.held().find(place_of(site.read.record));
        if (site.followed > 0 && site.followed == site.writes && read != sites_.held().end() &&
            (site.is_same() || !read->second.changed)) {
            all.push_back(&site);
        }
    }
    std::ranges::sort(all, {}, [](const Site* site) { return site->read.number; });
    return all;
}

} // namespace mmioscope::analysis
