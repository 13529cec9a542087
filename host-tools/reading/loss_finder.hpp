// Finds where records of a trace are missing while the trace is read.
#pragma once

#include "abi/container.hpp"
#include "mmioscope/event.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::reading {

class LossFinder {
public:
    /// Adds the next event of the trace. Returns the records missing before it, or those that it
    /// reports as a gap record, if any. Records missing before a CPU's first record are only in
    /// rest(): a trace may begin anywhere.
    std::optional<abi::Loss> add(const Event& event);

    /// Adds the next events, up to the first one that may show a loss or has a payload, which the
    /// caller must add itself. Returns how many it added.
    std::size_t follow(std::span<const Event> events) {
        std::size_t count = 0;
        for (std::size_t before = 1; before != count && count < events.size();) {
            before = count;
            const unsigned number = events[count].record.cpu;
            Cpu& cpu = cpus_[number];
            std::uint32_t next = cpu.next;
            for (; cpu.known && count < events.size(); ++count, ++next) {
                const abi::Record& record = events[count].record;
                if (record.cpu != number || record.cpu_sequence != next ||
                    record.type == abi::RecordType::gap || abi::goes_on(record)) {
                    break;
                }
            }
            cpu.next = next;
        }
        return count;
    }

    /// Call it after the last record: those of the trace's own `losses` that add() has not
    /// returned.
    std::vector<abi::Loss> rest(std::span<const abi::Loss> losses) const;

    /// The number of missing records that add() has returned.
    std::uint64_t lost() const { return lost_; }

private:
    struct Cpu {
        bool known = false;
        std::uint32_t first = 0; ///< cpu_sequence of the first record
        std::uint32_t next = 0;  ///< expected of the next record
    };

    std::vector<Cpu> cpus_ = std::vector<Cpu>(256);
    std::uint64_t lost_ = 0;
};

} // namespace mmioscope::reading
