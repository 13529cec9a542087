// A cache of recent questions and their answers, for questions that records ask repeatedly and
// whose answers change with the guest's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmioscope::linux_guest {

/// Answers to questions of two words. Each question has one slot, so a lookup takes a few
/// instructions, and a newer question replaces the old one.
template <typename Answer>
class RecentAnswers {
public:
    /// The answer since the last forget(), or that of `ask()`.
    template <typename Ask>
    const Answer& of(std::uint32_t first, std::uint32_t second, Ask&& ask) {
        constexpr std::uint32_t golden =
            0x9e37'79b1; // 2^32 divided by the golden ratio: spreads neighbours
        Entry& entry = entries_[((first ^ second << 8) * golden) >> (32 - bits)];
        if (entry.turn != turn_ || entry.first != first || entry.second != second) [[unlikely]] {
            // Store after the call: `ask` may call forget().
            const Answer answer = ask();
            entry = {turn_, first, second, answer};
        }
        return entry.answer;
    }

    void forget() {
        ++turn_;
        if (turn_ == 0) { // wrapped after 2^32 turns
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
