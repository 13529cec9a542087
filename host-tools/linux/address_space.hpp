// Translates the kernel's virtual addresses with its own page tables (ARM ARM B3.5 and B3.6).
#pragma once

#include "linux/physical_memory.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace mmioscope::linux_guest {

class AddressSpace {
public:
    enum class Format {
        short_descriptors, ///< `table` is the 16 KiB first-level table
        long_descriptors,  ///< LPAE; `table` is the four first-level entries
    };

    static constexpr std::uint64_t page = 0x1000;

    AddressSpace(const PhysicalMemory& memory, Format format, std::uint64_t table)
        : memory_(memory), format_(format), table_(table) {}

    /// Finds the tables that map `virtual_address` to `physical_address`: the lowest ones in the
    /// first `limit` bytes of RAM, where Linux has swapper_pg_dir, right below its text. The tables
    /// of processes, which lack later mappings, lie above.
    static std::optional<AddressSpace> find(const PhysicalMemory& memory, std::uint64_t limit,
                                            std::uint32_t virtual_address,
                                            std::uint64_t physical_address);

    /// Nothing if the address is unmapped, or maps to something other than RAM.
    std::optional<std::uint64_t> physical(std::uint32_t address) const;
    std::optional<std::uint32_t> word(std::uint32_t address) const;

    /// The text at `address`, of any alignment, up to a zero byte within `limit` bytes; nothing if
    /// there is no such byte.
    std::optional<std::string> text(std::uint32_t address, std::uint32_t limit) const;

private:
    std::uint64_t mapped(std::uint32_t address) const;
    std::uint64_t by_short(std::uint32_t address) const;
    std::uint64_t by_other_short(std::uint32_t first, std::uint32_t address) const;
    std::optional<std::uint64_t> by_long(std::uint32_t address) const;

    PhysicalMemory memory_;
    Format format_;
    std::uint64_t table_;
};

} // namespace mmioscope::linux_guest
