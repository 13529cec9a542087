// Packs a finished trace file: records in blocks, other sections with zstd.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace mmioscope::trace {

/// Called now and then with the number of bytes read so far; returns whether to continue.
using GoesOn = std::function<bool(std::uint64_t done, std::uint64_t size)>;

/// Writes a packed copy of the trace file at `path`, which is open at `fd` and locked, beside it,
/// and replaces the file (system/replaced_file.hpp): programs that have it open still read the old
/// one. Leaves the file as it is if packing does not make it smaller, or if it is not a regular
/// file. Reads back everything that it writes before it replaces the file. Throws Error, and leaves
/// the file as it is, if the file is damaged, has no end or changes meanwhile, if the copy cannot
/// be written, or if `goes_on` returns false.
void pack_file(const std::string& path, int fd, const GoesOn& goes_on);

} // namespace mmioscope::trace
