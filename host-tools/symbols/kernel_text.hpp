// The instructions of a kernel's image, by their addresses.
#pragma once

#include "symbols/kernel_image.hpp"
#include "symbols/symbols.hpp"
#include "symbols/unwind.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::symbols {

class KernelText {
public:
    /// `memory`: the kernel as it lies in memory. Nothing in it says where that is; but most of its
    /// functions begin by saving registers.
    KernelText(std::vector<std::byte> memory, const SymbolList& symbols);

    /// The virtual address of its first byte; nothing: unknown.
    std::optional<std::uint32_t> base() const { return base_; }
    /// The ARM instruction at `address`, a multiple of 4; nothing: unknown.
    std::optional<std::uint32_t> word(std::uint32_t address) const;

private:
    std::vector<std::byte> memory_;
    std::optional<std::uint32_t> base_;
};

/// How the frames of its functions are undone; empty: not found.
UnwindTable frames_of(const KernelImage& kernel);

} // namespace mmioscope::symbols
