#include "comparison.hpp"

#include "disassembler.hpp"
#include "mnemonic.hpp"
#include "words.hpp"

#include <cinttypes>
#include <cstdio>

namespace mmioscope::decoder_test {

namespace {

const char* name_of(Set set) {
    return set == Set::arm ? "ARM" : set == Set::thumb16 ? "Thumb-16" : "Thumb-32";
}

} // namespace

Comparison::Comparison(Set set) : set_(set), listed_(listed_differences().size()) {}

void Comparison::run(std::uint64_t words, std::uint64_t seed) {
    Disassembler disassemble(set_);
    Words(set_, words, seed).for_each([&](std::uint32_t word) {
        if (set_ == Set::thumb16 && (word >> 11) >= 0x1d) return; // first half of a longer one
        unsigned length = 0;
        const std::string_view line = disassemble(word, length);
        compare({set_, word, decoded(word, set_), read_line(line, length), line});
    });
}

void Comparison::compare(const Pair& pair) {
    ++words_;
    if (pair.theirs.accesses_memory()) {
        ++accesses_;
        ++mnemonics_[pair.theirs.mnemonic];
    }
    if (same(pair.ours, pair.theirs)) return;
    const auto differences = listed_differences();
    for (std::size_t n = 0; n < differences.size(); ++n)
        if (belongs_to(differences[n], set_) && differences[n].applies(pair)) {
            ++listed_[n];
            return;
        }
    note_unlisted(pair);
}

void Comparison::note_unlisted(const Pair& pair) {
    Unlisted& unlisted = unlisted_[std::string(pair.theirs.mnemonic) + ": decoder " +
                                   text_of(pair.ours) + ", disassembler " + text_of(pair.theirs)];
    if (unlisted.count++ != 0) return;
    char word[16];
    std::snprintf(word, sizeof word, "%08" PRIx32 "  ", pair.word);
    unlisted.example = word + std::string(pair.line);
}

bool Comparison::report_listed() const {
    bool good = true;
    const auto differences = listed_differences();
    for (std::size_t n = 0; n < differences.size(); ++n) {
        if (!belongs_to(differences[n], set_)) continue;
        std::printf("%12" PRIu64 "  %s (%s)\n", listed_[n], differences[n].text,
                    differences[n].section);
        if (listed_[n] != 0) continue;
        std::printf("    a listed difference that no longer occurs\n");
        good = false;
    }
    return good;
}

bool Comparison::report_mnemonics() const {
    if (set_ == Set::thumb16) return true;
    bool good = true;
    for (const std::string_view name : mnemonics_of(set_)) {
        if (mnemonics_.contains(name)) continue;
        std::printf("    no word was a %.*s\n", static_cast<int>(name.size()), name.data());
        good = false;
    }
    return good;
}

bool Comparison::report() const {
    std::printf("decoder: %s: %" PRIu64 " words, %" PRIu64 " loads and stores of %zu mnemonics\n",
                name_of(set_), words_, accesses_, mnemonics_.size());
    const bool listed = report_listed();
    const bool hit = report_mnemonics();
    constexpr std::size_t most = 20;
    std::size_t shown = 0;
    for (const auto& [what, unlisted] : unlisted_)
        if (shown++ < most)
            std::printf("%12" PRIu64 "  unlisted: %s: %s\n", unlisted.count, what.c_str(),
                        unlisted.example.c_str());
    const bool good = listed && hit && unlisted_.empty();
    std::printf("%s decoder: %s, %zu kinds of unlisted differences\n", good ? "ok" : "FAILED",
                name_of(set_), unlisted_.size());
    std::fflush(stdout);
    return good;
}

} // namespace mmioscope::decoder_test
