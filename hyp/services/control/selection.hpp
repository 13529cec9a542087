// Changes exactly what is traced, while the guest runs. docs/tlb.md has the argument.
//
// While the locks of all regions are held, no access is in flight, and a CPU that has trapped
// looks at what is traced once it has its lock (engine/engine.hpp, take_locks). So with
//
//     on:   lock all, mark, invalidate descriptors, broadcast TLBI, record, unlock
//     off:  lock all, record, unmark, validate descriptors, unlock
//
// each access between the two records has its record, and no other access has one. Off needs no
// TLBI, since faults are not cached (ARM ARM B3.9).
#pragma once

#include "abi/control.hpp"
#include "integrity/integrity.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// What a change applies to: a region (by index), or a range of addresses.
struct Which {
    std::uint32_t region{abi::control::all_regions};
    Range range{}; ///< bytes; used if not empty
};

/// Whether the tracing of `which` can be changed: Status::done, or why not.
abi::control::Status can_change(const Machine& machine, const Which& which);
/// Notes whether `which` is selected; apply_selection() makes it effective. The caller holds
/// Machine::changes.
void mark_selected(Machine& machine, Integrity& integrity, const Which& which, bool selected);
/// Makes exactly the selected spans traced, or none if `stopped`, among those that can change. The
/// caller holds all locks.
void apply_selection(Machine& machine, Integrity& integrity, bool stopped);

} // namespace mmioscope
