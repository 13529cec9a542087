// The index of a trace file (abi/container.hpp): the times in each stretch. The file's writer makes
// it.
#pragma once

#include "abi/container.hpp"
#include "records/groups.hpp"
#include "system/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

/// The stretches of a file, in order; `end` is the end of the last one.
struct FileIndex {
    std::vector<abi::IndexEntry> entries;
    std::uint64_t end = 0;
};

/// The index in `payload`, if it is valid.
std::optional<FileIndex> parse_index(std::span<const std::byte> payload);

/// The index at the end of a file; nothing if it has none or it is not plausible. `source` must be
/// seekable; its position afterwards is unspecified.
std::optional<FileIndex> read_index(ByteSource& source);

inline constexpr std::size_t max_index_entries = 4096;

/// Makes an index section by section. It has at most max_index_entries, however long the file is:
/// when they are used up, it joins each two neighbours.
class IndexBuilder {
public:
    /// Adds the next section, with its header at `offset` and the `records` in it.
    void add(abi::SectionType type, std::uint64_t offset, const Extent& records);

    std::span<const abi::IndexEntry> entries() const { return entries_; }

private:
    abi::IndexEntry& entry_for(std::uint64_t offset);
    void join();

    std::vector<abi::IndexEntry> entries_;
    std::uint64_t records_ = 0;
    bool open_ = false; ///< the next section belongs to the same stretch as the last one
    /// A stretch ends after this many bytes of the file, or after grain_ / 16 records.
    std::uint64_t grain_ = 64 * 1024;
};

/// The payload of an index section with its header at `end`.
std::vector<std::byte> index_payload(std::span<const abi::IndexEntry> entries, std::uint64_t end);

} // namespace mmioscope::trace
