// Reads the sections of a trace file (abi/container.hpp), whole or cut, sound or damaged.
#pragma once

#include "abi/container.hpp"
#include "lib/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// One section. `payload` holds until the next one is read.
struct Section {
    abi::SectionType type;
    std::span<const std::byte> payload;
    bool cut; ///< the file ends inside the payload: what is here is right, but not all
};

class FileReader {
public:
    using Report = std::function<void(const std::string&)>;

    /// Reads the file header from `source`. `report` is told, in one line each, of damaged
    /// parts. Throws Error (bad_input) if this is no trace or one of a newer major version.
    FileReader(ByteSource& source, Report report);

    /// The next sound section; nothing at the end of the bytes.
    std::optional<Section> next();

private:
    bool read_header(abi::SectionHeader& header);
    bool find_header(abi::SectionHeader& header);
    bool read_payload(const abi::SectionHeader& header);
    std::uint64_t skip(std::uint64_t bytes);
    std::size_t take(void* to, std::size_t size);

    ByteSource& source_;
    Report report_;
    std::uint64_t offset_ = 0;
    std::vector<std::byte> payload_;
};

} // namespace mmioscope::trace
