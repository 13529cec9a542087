// The guest's RAM as its devices would see it: words at physical addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mmioscope::linux_guest {

/// Memory that the guest may be writing at the same time, and that may hold anything: every address
/// is checked, and each word is read once.
class PhysicalMemory {
public:
    /// `bytes` from the physical address `base` on, both of which are multiples of 8; they stay
    /// the caller's.
    PhysicalMemory(std::span<const std::byte> bytes, std::uint64_t base)
        : bytes_(bytes.first(bytes.size() / 8 * 8)), base_(base) {}

    std::uint64_t base() const { return base_; }
    std::uint64_t size() const { return bytes_.size(); }
    std::span<const std::byte> bytes() const { return bytes_; }

    /// The word at `address`; nothing if that is not aligned, or no RAM.
    std::optional<std::uint32_t> word(std::uint64_t address) const {
        return load<std::uint32_t>(address);
    }
    std::optional<std::uint64_t> doubleword(std::uint64_t address) const {
        return load<std::uint64_t>(address);
    }

private:
    template <typename T>
    std::optional<T> load(std::uint64_t address) const {
        const std::uint64_t offset = address - base_;
        if (offset % sizeof(T) != 0 || offset >= bytes_.size()) {
            return std::nullopt;
        }
        const void* at = bytes_.data() + offset;
        return __atomic_load_n(static_cast<const T*>(at), __ATOMIC_RELAXED);
    }

    std::span<const std::byte> bytes_;
    std::uint64_t base_;
};

} // namespace mmioscope::linux_guest
