// Changes of the guest's tables while the guest runs, by break-before-make (ARM ARM B3.10.1): an
// entry that CPUs may use becomes invalid, all CPUs forget it, and only then it becomes what it
// shall be. Meanwhile a CPU that meets it traps, and tries again (trap/abort.cpp, check_table). No
// interrupt is needed. docs/tlb.md has the argument.
#pragma once

#include "integrity/integrity.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// Takes the locks of all regions and Machine::changes, bounded: no access and no step is in
/// flight. False: they are not free, and none is held.
[[nodiscard]] bool begin_quiet(Cpu& cpu);
void end_quiet(Machine& machine);

/// Empties the TLBs and instruction caches of all CPUs by broadcast. When this returns, no CPU uses
/// a translation that is not in the tables, and accesses made with an older one are complete (ARM
/// ARM B3.10.1).
void forget_on_all_cpus();

/// Between begin_quiet() and end_quiet().
class LiveTables {
public:
    LiveTables(Machine& machine, Integrity& integrity) : machine_(machine), integrity_(integrity) {}

    /// Changes what the views have at a page of memory to these leaves, or to nothing (0); splits
    /// blocks. False: there are no tables left, no memory is there, or the steps of this machine
    /// have tables of their own.
    [[nodiscard]] bool change(std::uint64_t page, lpae::Descriptor normal,
                              lpae::Descriptor in_steps);
    /// Makes blocks again of what change() has split around `page`, if all pages are alike.
    void join(std::uint64_t page);

private:
    /// Entries of several views for one address, each once; they are equal.
    using Entries = FixedVector<lpae::Descriptor*, abi::max_cpus>;

    Entries entries(bool in_steps, std::uint64_t address, unsigned level) const;
    void replace(const Entries& entries, lpae::Descriptor value);
    bool split(const Entries& entries, unsigned level);
    bool join(const Entries& entries, unsigned level);

    Machine& machine_;
    Integrity& integrity_;
};

} // namespace mmioscope
