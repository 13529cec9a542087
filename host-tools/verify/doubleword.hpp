// VFP and NEON registers of 8 bytes are two words on the bus, or elements (ARM ARM A3.5.3), and a
// record each. QEMU moves 8 bytes at once, which its memory core cuts into words if the address is
// a multiple of 8. Else it logs
//
//   a load    the words of the two aligned doublewords that the 8 bytes lie in: four
//   a store   a line for each byte
//
// and bytes of a register, loaded or stored big-endian, are words there, though a record each,
//
// and of a device without a model, lines of 8 bytes.
#pragma once

#include "verify/artefacts.hpp"

namespace mmioscope::verify {

/// The first events, of 8 bytes in all by one instruction, against all the lines of these.
Match doubleword(const Ahead<logs::Line>& lines, const Ahead<logs::Event>& events);

} // namespace mmioscope::verify
