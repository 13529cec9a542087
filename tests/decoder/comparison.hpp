// The comparison of all words of one set, and its results.
#pragma once

#include "differences.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::decoder_test {

class Comparison {
public:
    explicit Comparison(Set set);

    void run(std::uint64_t words, std::uint64_t seed);
    /// Prints counts, and what is wrong. Returns true if nothing is.
    bool report() const;

private:
    void compare(const Pair& pair);
    void note_unlisted(const Pair& pair);
    bool report_listed() const;
    bool report_mnemonics() const;

    struct Unlisted {
        std::uint64_t count{};
        std::string example;
    };

    Set set_;
    std::uint64_t words_{};
    std::uint64_t accesses_{};
    std::vector<std::uint64_t> listed_;
    std::map<std::string_view, std::uint64_t> mnemonics_;
    std::map<std::string, Unlisted> unlisted_;
};

} // namespace mmioscope::decoder_test
