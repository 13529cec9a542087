// zstd's frames (RFC 8878) in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope {

/// Compresses `bytes` into one frame (RFC 8878) at level 1; nothing if that saves next to nothing.
std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes);

/// The size of the content of `frame`, from its header; 0: not a frame, or unknown.
std::uint64_t zstd_size(std::span<const std::byte> frame);

/// Decompresses `frame` to `bytes`, which has zstd_size() bytes. False: it is damaged.
bool expand_zstd(std::span<const std::byte> frame, std::span<std::byte> bytes);

} // namespace mmioscope
