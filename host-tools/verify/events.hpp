// The accesses of a trace that QEMU's log must contain.
#pragma once

#include "abi/ring.hpp"
#include "file/trace_reader.hpp"
#include "file/unfinished.hpp"
#include "import/qemu_log.hpp"
#include "records/losses.hpp"
#include "verify/artefacts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

struct Events {
    std::vector<importing::Event> all; ///< in the order of the file, unsorted
    trace::LossCounter holes;          ///< records missing in the trace itself
    std::uint64_t records = 0;         ///< number of records of all types
    std::uint64_t of_memory = 0;       ///< of watched memory, which QEMU does not log
    std::vector<trace::UnfinishedAccess> unfinished;
};

/// Reads `reader` to its end: records of type access and own, faults by an external abort (these
/// accesses were on the bus), and what may have been there: walks, and faults that do not know.
Events read_events(trace::TraceReader& reader);

// Finds the region of a trace that contains an address.

/// Finds the narrowest region that contains an address.
class RegionFinder {
public:
    explicit RegionFinder(std::span<const abi::RegionEntry> regions) : regions_(regions) {}

    std::uint32_t operator()(std::uint64_t address) const {
        std::uint32_t best = abi::no_device;
        for (std::uint32_t i = 0; i < regions_.size(); ++i) {
            const abi::RegionEntry& region = regions_[i];
            const bool holds = address >= region.base && address - region.base < region.size;
            if (holds && (best == abi::no_device || region.size < regions_[best].size)) {
                best = i;
            }
        }
        return best;
    }

private:
    std::span<const abi::RegionEntry> regions_;
};

// Divides lines and events into streams that must agree item by item: one for each CPU, and,
// since QEMU names no CPU for accesses that reach no device model, one for each device there.

/// Indices of lines and events, each in the order of its side. An event that cannot be at its place
/// according to its cpu_sequence is moved to where it belongs.
struct Stream {
    std::vector<std::uint32_t> lines;
    std::vector<std::uint32_t> events;
};

/// Each line is in exactly one stream, and each event in at most one: an event whose cpu_sequence
/// has no place among its CPU's is in none, and left to name_leftovers(). Makes the addresses of
/// rejected lines, which are offsets in the log, absolute.
std::vector<Stream> divide(std::vector<importing::Line>& lines,
                           std::span<const importing::Event> events,
                           std::span<const abi::RegionEntry> regions);

// Records of instructions that the hypervisor carries out without knowing all their effects: VFP,
// NEON, exclusives, SWP. There is one such record, with flag_value_unknown and the address of the
// first access; size and value mean nothing. QEMU logs every access:
//
//   VLDR, VLDM, VLD1, LDREXD   consecutive reads, from up to 7 bytes below on
//   VSTR, VSTM, VST1           writes, likewise
//   SWP, STREX, STREXD         the reads, and then the writes to the same addresses
//
// Likewise walks of the guest's page tables: any reads in a page. An instruction that took an
// exception after its first access has a fault record with that flag, and some of these lines.

bool is_undecoded(const importing::Event& event);

/// All lines that the first event, which is undecoded, may have caused, but no line with which the
/// next event may begin.
Match undecoded(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

// Accesses that only one side can have: those outside the selection, and reads of flash that QEMU
// does not log.

/// Removes the lines of places outside the regions selected at boot, if the trace has no event
/// there; if a region is selected later, all its lines stay. Returns the number of removed lines.
std::uint64_t leave_out_unselected(importing::AccessLog& log,
                                   std::span<const importing::Event> events,
                                   std::span<const abi::RegionEntry> regions);

/// Which events are reads of a flash in ROM mode, for which QEMU does not call its model: it is in
/// that mode after reset, and after a write of 0xff or 0xf0 until another write.
std::vector<bool> rom_reads(std::span<const importing::Event> events,
                            std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
