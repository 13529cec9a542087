// A trace file as a whole, for programs that change it.
#pragma once

#include "file/file_writer.hpp"
#include "records/callers.hpp"

#include <cstddef>
#include <vector>

namespace mmioscope::test {

struct OtherSection {
    std::size_t in_front; ///< records in front of it
    abi::SectionType type;
    std::vector<std::byte> payload;
};

struct TraceContent {
    std::vector<abi::Record> records;
    std::vector<trace::Caller> callers; ///< of each record
    std::vector<OtherSection> others;
    abi::Ending ending = abi::Ending::machine_off;
};

/// Throws Error (bad_input) if the file is not a whole trace.
TraceContent read_content(const char* path);
void write_content(const char* path, const TraceContent& content);

} // namespace mmioscope::test
