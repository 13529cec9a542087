// Stores to translation tables on their way to the table walks. A walk is an observer of its own:
// whichever CPU makes it, the one that stored included, it may find what was there before, until
// the DSB of the CPU that stored (ARM ARM B3.3.1; the CPU's loads find the new value at once).
#pragma once

#include "ram.hpp"
#include "random.hpp"

#include <map>
#include <vector>

namespace mmioscope::sim {

class TableStores {
public:
    /// CPU `writer` changes the entry at `address`, which held `old`.
    void store(unsigned writer, std::uint64_t address, std::uint64_t old);
    /// What a walk by CPU `walker` finds at `address`, where memory has `latest`.
    std::uint64_t walked(unsigned walker, std::uint64_t address, std::uint64_t latest) const;

    /// DSB: what `writer` stored is found by all walks, with DSB NSH by its own.
    void complete(unsigned writer) { show_stores_of(writer, ~0u); }
    void complete_own(unsigned writer) { show_stores_of(writer, 1u << writer); }
    /// One of the stores may reach some CPUs' walks now.
    void show_one(Random& random);

private:
    struct Store {
        unsigned writer;
        std::uint32_t unseen; ///< by walks of these CPUs
        std::uint64_t old;
    };
    using Entry = std::vector<Store>; ///< in their order

    void show_stores_of(unsigned writer, std::uint32_t cpus);
    static void show(Entry& entry, std::size_t which, std::uint32_t cpus);

    std::map<std::uint64_t, Entry> entries_;
};

/// Memory as the table walks of one CPU find it; without `stores`, as it is.
struct WalkedMemory {
    WalkedMemory(const Ram& r) : ram(&r) {}
    WalkedMemory(const Ram& r, const TableStores& s, unsigned c) : ram(&r), stores(&s), cpu(c) {}

    std::uint64_t descriptor(std::uint64_t address) const {
        const auto latest = ram->load<std::uint64_t>(address);
        return stores != nullptr ? stores->walked(cpu, address, latest) : latest;
    }

    const Ram* ram;
    const TableStores* stores{};
    unsigned cpu{};
};

} // namespace mmioscope::sim
