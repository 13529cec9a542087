// An unaligned access that lies in two pages is recorded by bytes, each with its own device, or
// with none (hyp/core/trap/split.hpp); so are those elements of a NEON instruction that do. What
// one of the two pages has of it, QEMU logs as
//
//   a load    the aligned halfword or word that contains it; of the 8 bytes that QEMU moves for a
//             VFP or NEON register, the two words of the aligned doubleword
//   a store   one line for each byte
//   either    since 8.1: aligned pieces of the same size (Line::pieces)
#pragma once

#include "verify/artefacts.hpp"

namespace mmioscope::verify {

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
