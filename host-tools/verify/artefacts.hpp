// The table of artefacts: how QEMU's log may show one access of the guest, other than as one
// identical line. README.md explains the rows; tests/host-tools/test_artefacts.cpp has a test for
// each.
#pragma once

#include "abi/ring.hpp"
#include "import/qemu_log.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace mmioscope::verify {

enum class Artefact : std::uint8_t {
    none,             ///< one line, identical in every field
    unmasked_value,   ///< the model returned or received bits beyond the access's size
    split_in_words,   ///< 8 bytes: two lines of 4 bytes
    unaligned_read,   ///< two aligned lines that cover it
    unaligned_write,  ///< one line for each byte
    unaligned_pieces, ///< QEMU since 8.1: aligned lines of the same size
    doubleword,       ///< of a VFP or NEON register, which QEMU moves as a whole
    border,           ///< one page's part of an access that lies in two
    undecoded,        ///< a record without a value: all lines that its instruction may have caused
    unmodelled,       ///< a line without CPU and value
    rejected,         ///< likewise, with an offset as the address
    widened,          ///< 1 or 2 bytes: the word that the model takes
};
inline constexpr std::size_t artefact_count = 12;

std::string_view artefact_text(Artefact artefact);

/// Consecutive lines or events of a stream, seen from some place on.
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

/// The number of lines for one event, or for a few; 0: they do not match.
struct Match {
    std::uint8_t lines = 0;
    Artefact artefact = Artefact::none;
    std::uint8_t events = 1;

    explicit operator bool() const { return lines != 0; }
};

/// Whether the first lines are, by one of the rows, how the first event or events appear.
Match explain(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

// Handles device models that QEMU maps through an alias: its log has offsets instead of addresses
// for them.

/// Makes the addresses of such lines absolute, if they belong to a region of the trace.
void place_aliased(importing::AccessLog& log, std::span<const abi::RegionEntry> regions);

// What QEMU logs otherwise since version 8.1: device models to which it gives only whole words, and
// unaligned accesses.

/// Marks what a newer QEMU may have written in another form than 7.2 (Line::widened, Line::pieces).
/// `qemu` is the version, as the trace says it; without one the log is taken as 7.2's. A model of
/// which the log has other sizes than words is not widened. Call it before the log is compared.
void mark_newer(importing::AccessLog& log, std::string_view qemu);

// An unaligned access that lies in two pages is recorded by bytes, each with its own device, or
// with none (hyp/core/trap/split.hpp); so are those elements of a NEON instruction that do. What
// one of the two pages has of it, QEMU logs as
//
//   a load    the aligned halfword or word that contains it; of the 8 bytes that QEMU moves for a
//             VFP or NEON register, the two words of the aligned doubleword
//   a store   one line for each byte
//   either    since 8.1: aligned pieces of the same size (Line::pieces)

/// Matches the first events, which end or begin a page and are a part of 8 bytes, with the two
/// words that QEMU reads. The first word may look like the whole, and the second like the next
/// event's: what is right shows only behind them.
Match border_doubleword(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);
/// Matches the first events, which end or begin a page, with the lines of any other part.
Match border(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

// VFP and NEON registers of 8 bytes are two words, or elements, on the bus (ARM ARM A3.5.3), with
// one record each. QEMU moves 8 bytes at once; 10.0 also those of LDRD and STRD. If the
// address is a multiple of 8, its memory core splits them into words, unless the model takes 8
// bytes. Otherwise it logs
//
//   a load    the words of the two aligned doublewords that contain the 8 bytes: four
//   a store   one line for each byte
//   either    since 8.1: aligned pieces of the same size (Line::pieces)
//
// Bytes of a register that are loaded or stored big-endian are words there, though one record each.
// For a device without a model, lines have 8 bytes.

/// Matches the first events, 8 bytes in total by one instruction, with all their lines.
Match doubleword(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

} // namespace mmioscope::verify
