// What kernel images say, kept from one run to the next: to expand an image and to pack its symbols
// takes longer than all else before QEMU starts, and most runs boot the same kernel.
#pragma once

#include "symbols/kernel_image.hpp"
#include "system/user_cache.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::run {

/// What is kept of an image.
struct KernelFacts {
    std::string banner;             ///< empty: unknown
    std::vector<std::byte> symbols; ///< symbols::pack()
    std::optional<symbols::TaskOffsets> task_offsets;
    std::vector<std::byte> frames; ///< symbols::UnwindTable::bytes()
};

/// What is kept of one image. Its key is the SHA-256 of the image and of what tells builds of this
/// program apart.
class KernelCache {
public:
    /// An empty `folder`: no cache.
    KernelCache(const std::string& folder, std::span<const std::byte> image);

    /// Nothing: not kept, or damaged.
    std::optional<KernelFacts> find() const;
    void keep(const KernelFacts& facts) const;

private:
    UserCache files_;
    std::string key_;
};

} // namespace mmioscope::run
