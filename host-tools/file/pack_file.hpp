// A finished trace file is packed: records in blocks, other sections by zstd.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace mmioscope::trace {

/// Asked now and then, with how many of all bytes have been read: whether to go on.
using GoesOn = std::function<bool(std::uint64_t done, std::uint64_t size)>;

/// Writes a packed copy of the trace file at `path` beside it (PATH.packing) and puts that in its
/// place at once: who has the file open still reads the old one. What packing makes no smaller
/// stays, and so does what is no regular file. Everything comes back from what is written before it
/// is. Throws Error, and then the file is as it was: where it is damaged or has no end,
/// where the copy cannot be written, or if `goes_on` says no.
void pack_file(const std::string& path, const GoesOn& goes_on);

} // namespace mmioscope::trace
