// Gives the guest exceptions as it would take them without a hypervisor (ARM ARM B1.9.6 to B1.9.8).
#pragma once

#include "arch/hsr.hpp"
#include "base/address.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

/// Undefined instruction exception: the instruction at PC is undefined.
void inject_undefined(Frame& frame);

/// What answered with the error: DFSR.ExT (B4.1.52) and IFSR.ExT.
enum class Abort { decode_error, slave_error };

/// Taken from the trap that Hyp got instead (HSR.EA).
constexpr Abort answered_by(arch::Hsr hsr) {
    return hsr.external() ? Abort::slave_error : Abort::decode_error;
}

/// Prefetch abort: fetching the instruction at PC from `address` met a synchronous external abort.
void inject_prefetch_abort(Frame& frame, VirtualAddress address, Abort by = Abort::decode_error);

/// Prefetch abort: the instruction at PC is BKPT. IFAR is UNKNOWN then (B3.13.3), and stays.
void inject_breakpoint(Frame& frame);

/// Data abort: the access to `address` by the instruction at PC met a synchronous external abort.
void inject_data_abort(Frame& frame, VirtualAddress address, bool write,
                       Abort by = Abort::decode_error);

/// Data abort: the store to `address` by the instruction at PC is not aligned.
void inject_alignment_fault(Frame& frame, VirtualAddress address);

/// Whether the data abort that the guest has just taken is a synchronous external abort.
bool took_external_abort();

/// Data abort: the guest's watchpoint fired at the access to `address` by the instruction at PC
/// (C4.2).
void inject_watchpoint(Frame& frame, VirtualAddress address);

} // namespace mmioscope
