// What is traced, changed while the guest runs: exactly. docs/tlb.md has the argument.
//
// With the locks of all regions held no access to one is in flight, and whoever has trapped looks
// again at what is traced once it has the lock (engine/engine.hpp, take_locks). So
//
//     on:   lock all, mark, invalidate descriptors, broadcast TLBI, record, unlock
//     off:  lock all, record, unmark, validate descriptors, unlock
//
// and between the two records every access has its own, and no other has. Off needs no TLBI: faults
// are not cached (ARM ARM B3.9).
#pragma once

#include "abi/control.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// What a change is about: a region's bytes (by index), or a range of addresses.
struct Which {
    std::uint32_t region{abi::control::all_regions};
    Range range{}; ///< if not empty, this
};

/// Whether what is chosen can be selected or deselected.
abi::control::Status can_change(const Machine& machine, const Which& which);
/// Notes what is to be traced. With Machine::changes held; apply_selection() carries it out.
void mark_selected(Machine& machine, const Which& which, bool selected);
/// Traces what is selected, unless tracing is stopped, and nothing else of what can change. With
/// all locks held.
void apply_selection(Machine& machine);

/// Says in each region's lock whether every access becomes a record, so that the fast path may make
/// it. With all locks held, behind what has changed that.
void choose_fast_regions(Machine& machine);

} // namespace mmioscope
