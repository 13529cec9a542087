// Which call a return ends: in a file `ret` records have their call's PC, and the time since then
// (abi/record.hpp).
#pragma once

#include "records/open_calls.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::trace {

class Returns {
public:
    /// The next record, in the order of time.
    void complete(abi::Record& record);
    /// The next records: they, or a copy that is valid until the next call.
    std::span<const abi::Record> completed(std::span<const abi::Record> records);

private:
    struct Call {
        std::uint64_t time;
        std::uint32_t pc, lr, sp;
    };
    OpenCalls<Call> open_;
    std::vector<abi::Record> copy_;
};

} // namespace mmioscope::trace
