// Translates the kernel's virtual addresses with its own page tables (ARM ARM B3.5 and B3.6).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mmioscope::linux_guest {

// The guest's RAM: words at physical addresses, as a device would read them.

/// Memory that the guest may be writing at the same time, and that may hold anything: checks every
/// address, and reads each word once.
class PhysicalMemory {
public:
    /// `bytes` at the physical address `base`. Address and size are multiples of 8. The bytes
    /// belong to the caller.
    PhysicalMemory(std::span<const std::byte> bytes, std::uint64_t base)
        : bytes_(bytes.first(bytes.size() / 8 * 8)), base_(base) {}

    std::uint64_t base() const { return base_; }
    std::uint64_t size() const { return bytes_.size(); }
    std::span<const std::byte> bytes() const { return bytes_; }

    /// The word at `address`; nothing if the address is unaligned or not RAM.
    std::optional<std::uint32_t> word(std::uint64_t address) const {
        return at<std::uint32_t>(address);
    }
    std::optional<std::uint64_t> doubleword(std::uint64_t address) const {
        return at<std::uint64_t>(address);
    }

    /// Up to `most` words from `address` on, as far as they are RAM; none if the address is
    /// unaligned or not RAM. Read them with load().
    std::span<const std::uint32_t> words(std::uint64_t address, std::size_t most) const {
        const std::uint64_t offset = address - base_;
        if (offset % sizeof(std::uint32_t) != 0 || offset >= bytes_.size()) {
            return {};
        }
        const void* const at = bytes_.data() + offset;
        return {static_cast<const std::uint32_t*>(at),
                std::min<std::size_t>(most, (bytes_.size() - offset) / sizeof(std::uint32_t))};
    }
    template <typename T>
    static T load(const T& at) {
        return __atomic_load_n(&at, __ATOMIC_RELAXED);
    }

private:
    template <typename T>
    std::optional<T> at(std::uint64_t address) const {
        const std::uint64_t offset = address - base_;
        if (offset % sizeof(T) != 0 || offset >= bytes_.size()) {
            return std::nullopt;
        }
        const void* const at = bytes_.data() + offset;
        return load(*static_cast<const T*>(at));
    }

    std::span<const std::byte> bytes_;
    std::uint64_t base_;
};

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
