// How one access of the guest looks in QEMU's log where that is not one line like it. This is
// the table; README.md explains the rows, and tests/host-tools/test_artefacts.cpp has a test
// for each.
#pragma once

#include "logs/access.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace mmioscope::verify {

enum class Artefact : std::uint8_t {
    none,            ///< one line, the same in every field
    unmasked_value,  ///< the model returned or was given bits beyond the access's size
    split_in_words,  ///< 8 bytes: two lines of 4 bytes
    unaligned_read,  ///< two aligned lines, before and behind
    unaligned_write, ///< a line for each byte
    doubleword,      ///< of a VFP or NEON register, which QEMU moves at once
    undecoded,       ///< a record without a value: all the lines its instruction can have made
    unmodelled,      ///< neither CPU nor value in the line
    rejected,        ///< likewise, and the address is an offset
};
inline constexpr std::size_t artefact_count = 9;

std::string_view artefact_text(Artefact artefact);

/// Lines or events that follow one another in a stream, looked at from some place on.
template <typename T>
class Ahead {
public:
    Ahead(std::span<const T> all, std::span<const std::uint32_t> order)
        : all_(all), order_(order) {}
    std::size_t size() const { return order_.size(); }
    const T& operator[](std::size_t i) const { return all_[order_[i]]; }
    std::uint32_t index(std::size_t i) const { return order_[i]; }
    Ahead from(std::size_t i) const { return {all_, order_.subspan(i)}; }

private:
    std::span<const T> all_;
    std::span<const std::uint32_t> order_;
};

/// How many lines belong to one event, or to a few; none: they do not belong together.
struct Match {
    std::uint8_t lines = 0;
    Artefact artefact = Artefact::none;
    std::uint8_t events = 1;

    explicit operator bool() const { return lines != 0; }
};

/// Whether the first event, or the first few, by one of the rows, is what the first lines tell.
Match explain(const Ahead<logs::Line>& lines, const Ahead<logs::Event>& events);

} // namespace mmioscope::verify
