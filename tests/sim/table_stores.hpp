// Stores to translation tables on their way to table walks. A walk is a separate observer: on any
// CPU, even the one that stored, it may find the old value until the DSB of the CPU that stored
// (ARM ARM B3.3.1; that CPU's loads find the new value at once).
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
    /// The value that a walk by CPU `walker` finds at `address`, if memory has `latest`.
    std::uint64_t walked(unsigned walker, std::uint64_t address, std::uint64_t latest) const;

    /// DSB: makes the stores of `writer` visible to all walks; DSB NSH: to its own walks.
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
    using Entry = std::vector<Store>; ///< in order

    void show_stores_of(unsigned writer, std::uint32_t cpus);
    static void show(Entry& entry, std::size_t which, std::uint32_t cpus);

    std::map<std::uint64_t, Entry> entries_;
};

class Bus;

/// Memory as seen by the table walks of one CPU; without `stores`, the actual memory.
struct WalkedMemory {
    WalkedMemory(const Ram& r) : ram(&r) {}
    WalkedMemory(const Ram& r, const TableStores& s, unsigned c, const Bus* b = nullptr)
        : ram(&r), stores(&s), cpu(c), bus(b) {}

    std::uint64_t descriptor(std::uint64_t address) const {
        const auto latest = ram->load<std::uint64_t>(address);
        return stores != nullptr ? stores->walked(cpu, address, latest) : latest;
    }

    const Ram* ram;
    const TableStores* stores{};
    unsigned cpu{};
    const Bus* bus{}; ///< where a guest's tables may lie, too
};

} // namespace mmioscope::sim
