// Carries out the boot loader's requests before the guest runs (abi/layout.hpp, requests).
#pragma once

#include "dev/console.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Carries the requests out in order, like those that come while the guest runs, each with its
/// record. Runs on the CPU that boots, after its ring and its view of the guest are set up. If a
/// request is refused, prints one line on `uart` and halts: the trace would not be what was asked
/// for.
void carry_out_requests(Cpu& cpu, Console& uart);

} // namespace mmioscope
