// The index of a trace file (abi/container.hpp): which stretch has which times.
#pragma once

#include "lib/byte_source.hpp"
#include "lib/index_builder.hpp"

#include <optional>

namespace mmioscope::trace {

/// The stretches of a file in their order; `end` is where the last one ends.
struct FileIndex {
    std::vector<abi::IndexEntry> entries;
    std::uint64_t end = 0;
};

/// The index that `payload` holds, if it makes sense.
std::optional<FileIndex> parse_index(std::span<const std::byte> payload);

/// The index that a file brings along, found from the file's end; nothing if it has none or it
/// cannot be trusted. `source` can seek; where it stands afterwards is not said.
std::optional<FileIndex> read_index(ByteSource& source);

} // namespace mmioscope::trace
