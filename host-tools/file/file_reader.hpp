// Reads the sections of a trace file (abi/container.hpp), whole or cut, sound or damaged.
#pragma once

#include "abi/container.hpp"
#include "system/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::trace {

/// A larger payload is skipped unread: memory stays bounded whatever a file says.
inline constexpr std::uint64_t max_payload = 16u << 20;

/// One section. `payload` holds until the next one is read. It is aligned as records are.
struct Section {
    abi::SectionType type;
    std::span<const std::byte> payload;
    bool cut; ///< the file ends inside the payload: what is here is right, but not all

    /// The payload as records: as many whole ones as there are.
    std::span<const abi::Record> records() const {
        return {reinterpret_cast<const abi::Record*>(payload.data()),
                payload.size() / sizeof(abi::Record)};
    }
};

/// Where a section stands; `end` is where the next one begins.
struct SectionPlace {
    abi::SectionType type;
    std::uint64_t offset; ///< of its header, from the file's start
    std::uint64_t payload;
    std::uint64_t size; ///< of the payload in the file, by its header: the file may end earlier
    std::uint64_t end;
};

/// The header is what its writer wrote.
bool is_sound(const abi::SectionHeader& header);

/// Room for a payload, as aligned as records are, which is not cleared and never shrinks.
class PayloadMemory {
public:
    /// What was in it is gone if it has to grow.
    std::span<std::byte> room(std::size_t size) {
        if (size > count_ * sizeof(abi::Record)) {
            records_.reset();
            count_ = (size + sizeof(abi::Record) - 1) / sizeof(abi::Record);
            records_ = std::make_unique_for_overwrite<abi::Record[]>(count_);
        }
        return std::as_writable_bytes(std::span(records_.get(), count_)).first(size);
    }

private:
    std::unique_ptr<abi::Record[]> records_;
    std::size_t count_ = 0;
};

/// Of the format, by the file's header.
struct FileVersion {
    unsigned major = 0;
    unsigned minor = 0;
};

class FileReader {
public:
    using Report = std::function<void(const std::string&)>;
    /// Whether a section is to be read; of one that is not, next() gives the type without a
    /// payload.
    using Wanted = std::function<bool(const SectionPlace&)>;

    /// Reads the file header from `source`. `report` is told, in one line each, of damaged
    /// parts. Throws Error (bad_input) if this is no trace or one of a newer major version.
    FileReader(ByteSource& source, Report report);

    /// Begins with the section at `offset` of a source that can seek; tells nobody of damage.
    FileReader(ByteSource& source, std::uint64_t offset);

    /// The next sound section; nothing at the end of the bytes.
    std::optional<Section> next(const Wanted& wanted = {});

    /// Gives the memory of the section that was read last, which has no records, to `memory`, so
    /// that its payload holds for longer, and takes what was there for the sections to come.
    void swap_memory(PayloadMemory& memory) { std::swap(memory_, memory); }

    /// How many records there were in damaged sections since this was asked last, as far as is
    /// known.
    std::uint64_t take_unread() { return std::exchange(unread_, 0); }

    std::uint64_t offset() const { return offset_; }
    /// Whether there are more bytes, of which one may be taken. Of a source that grows nobody
    /// knows.
    bool has_more();
    void seek(std::uint64_t offset);

    FileVersion version() const { return version_; }

    /// Tells of damage that only who knows the payload sees.
    void report(const std::string& problem) const { report_(problem); }

private:
    bool read_header(abi::SectionHeader& header);
    bool find_header(abi::SectionHeader& header);
    void look_ahead();
    SectionPlace place_of(const abi::SectionHeader& header) const;
    std::span<const std::byte> read_payload(const abi::SectionHeader& header);
    std::optional<std::span<const std::byte>> expand(std::span<const std::byte> frame);
    void skip(std::uint64_t bytes);
    void tell_problem();
    std::size_t take(void* to, std::size_t size);

    ByteSource& source_;
    Report report_;
    FileVersion version_;
    std::uint64_t offset_ = 0; ///< of the next byte
    std::uint64_t unread_ = 0; ///< records
    bool problem_reported_ = false;
    PayloadMemory records_memory_;
    PayloadMemory memory_;         ///< of sections that are no records
    PayloadMemory frame_;          ///< what memory_ is expanded from
    std::vector<std::byte> ahead_; ///< read already, but behind offset_
    std::size_t ahead_at_ = 0;     ///< what comes next of it
};

} // namespace mmioscope::trace
