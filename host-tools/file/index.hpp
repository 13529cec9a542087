// The index of a trace file (abi/container.hpp): which stretch has which times. The writer of the
// file makes it.
#pragma once

#include "abi/container.hpp"
#include "records/extent.hpp"
#include "system/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

inline constexpr std::size_t max_index_entries = 4096;

/// Makes an index section by section. However long the file, it has at most max_index_entries:
/// when they are used up, each two neighbours become one.
class IndexBuilder {
public:
    /// The next section: its header stands at `offset`. `records` are in it.
    void add(abi::SectionType type, std::uint64_t offset, const Extent& records);

    std::span<const abi::IndexEntry> entries() const { return entries_; }

private:
    abi::IndexEntry& entry_for(std::uint64_t offset);
    void join();

    std::vector<abi::IndexEntry> entries_;
    std::uint64_t records_ = 0;
    bool open_ = false; ///< the last section is for the next one: both are of one stretch
    /// Bytes of the file: a stretch is as long, or has a record for each 16 of them, or more.
    std::uint64_t grain_ = 64 * 1024;
};

/// The payload of an index section whose header stands at `end`.
std::vector<std::byte> index_payload(std::span<const abi::IndexEntry> entries, std::uint64_t end);

} // namespace mmioscope::trace
