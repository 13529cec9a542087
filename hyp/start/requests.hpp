// What the boot loader asks to be changed before the guest runs (abi/layout.hpp, requests).
#pragma once

#include "dev/console.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Carries the requests out in their order, as those that come while the guest runs, each with its
/// record. On the CPU that boots, with its ring and its view of the guest in place. One that is
/// refused is told on `uart`, in one line, and nothing runs: it would not be what was asked for.
void carry_out_requests(Cpu& cpu, Console& uart);

} // namespace mmioscope
