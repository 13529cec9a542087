// Which call a return ends: in a file `ret` records have their call's PC, and the time since then
// (abi/record.hpp).
#pragma once

#include "abi/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace mmioscope::trace {

// The calls of probed functions that have not returned, by stack.

/// `Call` has the members `pc`, `lr` and `sp` of its record.
template <typename Call>
class OpenCalls {
public:
    using Stack = std::vector<Call>; ///< the innermost last

    /// The innermost one on the stack that this record was written on; null: none.
    Call* innermost(const abi::Record& record) {
        const auto found = stacks_.find(record.sp / stack_size);
        return found != stacks_.end() && !found->second.empty() ? &found->second.back() : nullptr;
    }

    /// Those that are open when a function is called, or returns. What is deeper in the stack has
    /// been left: its task has ended, or its return has no record.
    Stack& at(const abi::Record& record) {
        if (stacks_.size() == most_stacks) {
            stacks_.clear();
        }
        Stack& open = stacks_[record.sp / stack_size];
        const auto left = [&](const Call& call) {
            return call.sp < record.sp || (call.sp == record.sp && call.lr != record.lr);
        };
        while (!open.empty() && left(open.back())) {
            open.pop_back();
        }
        return open;
    }

    /// Opens one of `open`, which at() gave. If the same one is open already, its return was lost.
    static void open_one(Stack& open, const Call& call) {
        const auto same = [&](const Call& one) { return one.sp == call.sp && one.pc == call.pc; };
        open.erase(std::ranges::find_if(open, same), open.end());
        open.push_back(call);
    }

    /// Of those that at() gives, what returns with this record, the outermost first: that one has
    /// gone on to the others by a branch.
    static std::span<Call> ending(Stack& open, const abi::Record& record) {
        const auto first = std::ranges::find(open, record.sp, &Call::sp);
        return {first, open.end()};
    }

private:
    static constexpr std::uint32_t stack_size = 8192; ///< bytes, of Linux: THREAD_SIZE
    static constexpr std::size_t most_stacks = std::size_t{1} << 16;

    std::unordered_map<std::uint32_t, Stack> stacks_;
};

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
