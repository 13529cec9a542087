// Exceptions the guest would have taken without a hypervisor (ARM ARM B1.9.6 to B1.9.8).
#pragma once

#include "arch/hsr.hpp"
#include "base/address.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

/// The instruction at PC is undefined.
void inject_undefined(Frame& frame);

/// Who answered: DFSR.ExT (B4.1.52), and IFSR.ExT alike.
enum class Abort { decode_error, slave_error };

/// By what the trap in its place says (HSR.EA).
constexpr Abort answered_by(arch::Hsr hsr) {
    return hsr.external() ? Abort::slave_error : Abort::decode_error;
}

/// The instruction at PC, fetched from `address`, met a synchronous external abort.
void inject_prefetch_abort(Frame& frame, VirtualAddress address, Abort by = Abort::decode_error);

/// The access at `address` by the instruction at PC met a synchronous external abort.
void inject_data_abort(Frame& frame, VirtualAddress address, bool write,
                       Abort by = Abort::decode_error);

/// Whether the data abort that the guest has just taken is one.
bool took_external_abort();

/// The guest's watchpoint fired at the access at `address` by the instruction at PC (C4.2).
void inject_watchpoint(Frame& frame, VirtualAddress address);

} // namespace mmioscope
