// Keeps the previous boot's last records for the readers of this boot, or, at a `snapshot` request,
// this boot's own.
#pragma once

#include "abi/ring.hpp"
#include "engine/service.hpp"
#include "machine/area_layout.hpp"

namespace mmioscope {

/// Copies the end of the area at `where` to its kept_offset, if there is an intact area with the
/// layout `layout` for `cpus` CPUs. Checks everything that it reads there. Bounded: kept_records of
/// each CPU. Returns the result.
abi::Kept keep_previous_boot(Range where, const AreaLayout& layout, unsigned cpus);

/// Whether the area has room for a snapshot.
bool can_keep(const Machine& machine);

/// Replaces the previous boot's records by the last kept_records records of each CPU of this boot,
/// while the CPUs go on. Bounded by that number, whatever the guest writes to the area. Only one
/// CPU at a time may call it.
void keep_snapshot(Machine& machine);

/// Keeps the previous boot's records when the machine starts.
class BlackBox final : public Service {
public:
    std::optional<abi::Kept> keep(Range where, const AreaLayout& layout, unsigned cpus) override {
        return keep_previous_boot(where, layout, cpus);
    }
};

} // namespace mmioscope
