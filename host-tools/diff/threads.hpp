// Which accesses belong together: those of one interrupt on one CPU, and those on one stack.
#pragma once

#include "abi/record.hpp"
#include "diff/boot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mmioscope::diff {

class Threads {
public:
    /// `record` reads or writes an interrupt's number at the GIC's CPU interface: from the read on
    /// this CPU works for that interrupt, until the write.
    void follow(const abi::Record& record);

    /// `token` is the next write to a device in the thread of `record`. Returns the one before it;
    /// nothing if there is none, or it was the same.
    std::optional<Token> next(const abi::Record& record, Token token);

private:
    /// More nested interrupts than this, or threads, are forgotten.
    static constexpr std::size_t most_nested = 16;
    static constexpr std::size_t most_threads = 1 << 16;

    std::uint64_t thread_of(const abi::Record& record) const;

    std::array<std::vector<std::uint16_t>, 256> interrupts_; ///< by CPU: those it works for
    std::unordered_map<std::uint64_t, Token> last_;          ///< by thread and device
};

} // namespace mmioscope::diff
