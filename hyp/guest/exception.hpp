// Exceptions the guest would have taken without a hypervisor (ARM ARM B1.9.6 to B1.9.8).
#pragma once

#include "base/address.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

/// The instruction at PC is undefined.
void inject_undefined(Frame& frame);

/// The instruction at PC, fetched from `address`, met a synchronous external abort.
void inject_prefetch_abort(Frame& frame, VirtualAddress address);

/// The access at `address` by the instruction at PC met a synchronous external abort.
void inject_data_abort(Frame& frame, VirtualAddress address, bool write);

} // namespace mmioscope
