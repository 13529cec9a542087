// Writes a trace file (abi/container.hpp) section by section.
#pragma once

#include "abi/container.hpp"
#include "file/follow.hpp"
#include "file/index.hpp"
#include "records/callers.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

class FileWriter {
public:
    /// Writes the file header to `fd`, which stays the caller's and must be empty.
    /// `progress` is told after each section. Everything throws Error if writing fails, with
    /// `name`.
    FileWriter(int fd, WriteProgress& progress, std::string name = "the trace");

    void section(abi::SectionType type, std::span<const std::byte> payload);
    /// The same in fewer bytes, where it takes fewer.
    void section_packed(abi::SectionType type, std::span<const std::byte> payload);
    void text(std::string_view lines);

    template <typename T>
    void values(abi::SectionType type, std::span<const T> payload) {
        section(type, std::as_bytes(payload));
    }

    /// Takes `records`; they reach the file when enough have come together, or by flush().
    /// `callers`: one for each of them, or none.
    void append(std::span<const abi::Record> records, std::span<const Caller> callers = {});
    /// So many more of them are of the same section.
    std::size_t room() const;
    void flush();

    /// Records on their way into the file, for somebody who appends to them himself instead of
    /// copying them by append(): he calls write_full() behind that, until it is false.
    std::vector<abi::Record>& pending() { return pending_; }
    /// Those of pending() that are of the next section.
    std::span<const abi::Record> next_section() const;
    /// One for each of `records`, which are some of next_section(), and behind those that were told
    /// of before.
    void tell_callers(std::span<const abi::Record> records, std::span<const Caller> callers);
    /// Who looks at all of those anyway, in their order, may tell of them here.
    void seen(const Run& run) { seen_.add(run); }
    /// Writes the next section if nothing is missing of it. False: something is.
    bool write_full();

    /// A section of `records`, packed (pack/block.hpp).
    void packed(std::span<const std::byte> block, const Extent& records);

    /// Bytes of the file if it were flushed now.
    std::uint64_t size() const {
        return written_ + pending_.size() * sizeof(abi::Record) + index_.entries().size_bytes();
    }

    /// Makes the file whole: the index and the last section.
    void finish(std::uint64_t lost, abi::Ending ending);

private:
    void write_records(std::size_t count);
    void write_section(abi::SectionType type, std::span<const std::byte> payload,
                       std::uint32_t flags = 0);
    void put(const void* bytes, std::size_t size);

    int fd_;
    WriteProgress& progress_;
    std::string name_;
    std::uint64_t written_ = 0;
    std::uint64_t records_ = 0;
    std::vector<abi::Record> pending_;
    Extent seen_;                 ///< the first ones of these
    std::vector<Caller> callers_; ///< likewise
    IndexBuilder index_;
};

} // namespace mmioscope::trace
