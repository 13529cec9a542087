// Reads the sections of a trace file (abi/container.hpp), even if it is cut off or damaged.
#pragma once

#include "abi/container.hpp"
#include "records/callers.hpp"
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

/// Larger payloads are skipped unread, so memory stays bounded for any file.
inline constexpr std::uint64_t max_payload = 16u << 20;

/// One section. `payload` is valid until the next one is read, and is aligned for records.
struct Section {
    abi::SectionType type;
    std::span<const std::byte> payload;
    bool cut; ///< the file ends inside the payload: its beginning is correct
    /// From the section of callers before it: one for each of records(), or none. Valid until the
    /// next such section is read.
    std::span<const Caller> callers = {};

    /// The payload as complete records.
    std::span<const abi::Record> records() const {
        return {reinterpret_cast<const abi::Record*>(payload.data()),
                payload.size() / sizeof(abi::Record)};
    }
};

/// The payload of an `end` section; fields that an older version did not write are 0.
abi::End end_of(std::span<const std::byte> payload);

/// The position of a section; `end` is that of the next one.
struct SectionPlace {
    abi::SectionType type;
    std::uint64_t offset; ///< of its header, from the start of the file
    std::uint64_t payload;
    std::uint64_t size; ///< of the payload, by its header: the file may end earlier
    std::uint64_t end;
};

/// Whether the header is intact.
bool is_sound(const abi::SectionHeader& header);

/// Memory for a payload, aligned for records. It is not cleared and never shrinks.
class PayloadMemory {
public:
    /// Growing it loses the content.
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

/// The version of the format, from the file's header.
struct FileVersion {
    unsigned major = 0;
    unsigned minor = 0;
};

class FileReader {
public:
    using Report = std::function<void(const std::string&)>;
    /// Whether to read a section. For other sections next() returns the type without a payload.
    using Wanted = std::function<bool(const SectionPlace&)>;

    /// Reads the file header from `source`. `report` gets one line for each damaged part. Throws
    /// Error (bad_input) if this is not a trace, or has a newer major version.
    FileReader(ByteSource& source, Report report);

    /// Begins with the section at `offset` of a seekable source; does not report damage.
    FileReader(ByteSource& source, std::uint64_t offset);

    /// The next intact section; nothing at the end, and then not before seek(): what a writer adds
    /// to a section that was cut is no section.
    std::optional<Section> next(const Wanted& wanted = {});
    bool over() const { return over_; } ///< the end was met

    /// Whether callers were read, and their records are still to come.
    bool has_callers() const { return !callers_.empty(); }

    /// The number of records in damaged sections since the last call, as far as it is known.
    std::uint64_t take_unread() { return std::exchange(unread_, 0); }

    std::uint64_t offset() const { return offset_; }
    /// Whether there are more bytes; may read one of them. False for a growing source, where nobody
    /// knows.
    bool has_more();
    void seek(std::uint64_t offset);

    FileVersion version() const { return version_; }

    /// Reports damage that only a reader of the payload can detect.
    void report(const std::string& problem) const { report_(problem); }

private:
    bool read_header(abi::SectionHeader& header);
    bool find_header(abi::SectionHeader& header);
    void look_ahead();
    SectionPlace place_of(const abi::SectionHeader& header) const;
    Section section(abi::SectionType type, std::span<const std::byte> payload, bool cut = false);
    std::span<const std::byte> read_payload(const abi::SectionHeader& header);
    std::optional<std::span<const std::byte>> expand(std::span<const std::byte> frame);
    void skip(std::uint64_t bytes);
    void report_problem();
    std::size_t read(void* to, std::size_t size);

    ByteSource& source_;
    Report report_;
    FileVersion version_;
    bool over_ = false;
    std::uint64_t offset_ = 0; ///< of the next byte
    std::uint64_t unread_ = 0; ///< records
    bool problem_reported_ = false;
    PayloadMemory records_memory_;
    PayloadMemory memory_;         ///< for sections other than records
    PayloadMemory callers_memory_; ///< for callers_, and those of the last records
    std::span<const std::byte> callers_; ///< payload, for the records to come
    PayloadMemory frame_;          ///< packed content of memory_
    std::vector<std::byte> ahead_; ///< read already, but not yet counted in offset_
    std::size_t ahead_at_ = 0;     ///< next position in ahead_
};

} // namespace mmioscope::trace
