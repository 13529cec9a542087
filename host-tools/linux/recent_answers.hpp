// A cache of recent questions and their answers, for questions that records ask repeatedly and
// whose answers change with the guest's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmioscope::linux_guest {

/// Answers to questions of two words. Each has one place where it may be, so that finding it takes
/// a few instructions, and a newer one takes the place of another.
template <typename Answer>
class RecentAnswers {
public:
    /// What was answered since forget(); else what `ask()` answers now.
    template <typename Ask>
    const Answer& of(std::uint32_t first, std::uint32_t second, Ask&& ask) {
        constexpr std::uint32_t golden =
            0x9e37'79b1; // 2^32 by the golden ratio: spreads neighbours
        Entry& entry = entries_[((first ^ second << 8) * golden) >> (32 - bits)];
        if (entry.turn != turn_ || entry.first != first || entry.second != second) [[unlikely]] {
            // Behind the answer: what `ask` does may be to forget.
            const Answer answer = ask();
            entry = {turn_, first, second, answer};
        }
        return entry.answer;
    }

    void forget() {
        ++turn_;
        if (turn_ == 0) { // anew after 2^32
            entries_.fill({});
            turn_ = 1;
        }
    }

private:
    static constexpr unsigned bits = 9;
    struct Entry {
        std::uint32_t turn = 0; ///< 0: none
        std::uint32_t first, second;
        Answer answer;
    };
    std::uint32_t turn_ = 1;
    std::array<Entry, std::size_t{1} << bits> entries_{};
};

} // namespace mmioscope::linux_guest
