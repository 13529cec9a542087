#include "table_stores.hpp"

#include <algorithm>

namespace mmioscope::sim {

void TableStores::store(unsigned writer, std::uint64_t address, std::uint64_t old) {
    entries_[address].push_back({writer, ~0u, old});
}

std::uint64_t TableStores::walked(unsigned walker, std::uint64_t address,
                                  std::uint64_t latest) const {
    const auto entry = entries_.find(address);
    if (entry == entries_.end()) return latest;
    for (const Store& store : entry->second)
        if ((store.unseen >> walker & 1) != 0) return store.old;
    return latest;
}

/// A walk that finds a store also finds earlier stores to the same place: no older value again.
void TableStores::show(Entry& entry, std::size_t which, std::uint32_t cpus) {
    for (std::size_t n = 0; n <= which; ++n) entry[n].unseen &= ~cpus;
}

void TableStores::show_stores_of(unsigned writer, std::uint32_t cpus) {
    for (auto& [address, entry] : entries_)
        for (std::size_t n = 0; n < entry.size(); ++n)
            if (entry[n].writer == writer) show(entry, n, cpus);
    std::erase_if(entries_, [](const auto& entry) {
        return std::all_of(entry.second.begin(), entry.second.end(),
                           [](const Store& store) { return store.unseen == 0; });
    });
}

void TableStores::show_one(Random& random) {
    if (entries_.empty()) return;
    const std::uint64_t first = entries_.begin()->first;
    const std::uint64_t size = entries_.rbegin()->first - first + 1;
    Entry& entry = entries_.lower_bound(first + random.below(size))->second;
    show(entry, random.below(entry.size()), static_cast<std::uint32_t>(random.next()));
}

} // namespace mmioscope::sim
