// What Hyp finds at the guest's PC need not be the instruction that trapped: another CPU may have
// unmapped or changed it since it was fetched.
#pragma once

#include "abi/record.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Hyp cannot carry out what it has found at PC, because of `why`. True: it need not be what
/// trapped, so the guest fetches it again, with a translation and from a cache that are no older
/// than Hyp's look. It executes what is there now, or takes its own prefetch abort. False: it was
/// looked at so for many times in a row, or Hyp has followed the guest to it (trap/stretch.hpp).
[[nodiscard]] bool look_again(Cpu& cpu, const Frame& frame, abi::FaultReason why);

} // namespace mmioscope
