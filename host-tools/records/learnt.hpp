// What the part of a trace before a place says, as far as later records need it.
#pragma once

#include "abi/container.hpp"
#include "records/module_mark.hpp"
#include "records/module_table.hpp"
#include "records/task_table.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace mmioscope::trace {

/// Cheap to copy: only what may change in part is copied.
struct Learnt {
    std::shared_ptr<const std::vector<abi::RegionEntry>> regions =
        std::make_shared<std::vector<abi::RegionEntry>>();
    std::shared_ptr<const std::vector<std::byte>> tree = std::make_shared<std::vector<std::byte>>();
    TaskTable tasks;
    ModuleTable modules;
    MarkerTexts markers;

    /// Takes the next section; false if its type does not matter here.
    bool add(abi::SectionType type, std::span<const std::byte> payload);
    /// Takes the next record, one that teaches (extent.hpp).
    void add(const abi::Record& record);

    /// Approximate memory, without what is shared with `other`, an earlier state of the same trace.
    std::size_t bytes_beside(const Learnt& other) const;
};

} // namespace mmioscope::trace
