// The guest's VFP and NEON registers, which are only read. These are the only VFP instructions in
// the hypervisor (tests/layout.sh); guest/banks.cpp decides when they are not undefined.
#pragma once

#include <cstdint>

namespace mmioscope::port {

/// FPEXC (B4.1.57). Needs access to coprocessors 10 and 11.
std::uint32_t vector_control();
/// MVFR0 (B4.1.110). Needs FPEXC.EN.
std::uint32_t vector_features();
/// D<n>, 0 to 31. Needs FPEXC.EN; above 15 the register must exist.
std::uint64_t vector_doubleword(unsigned n);

} // namespace mmioscope::port
