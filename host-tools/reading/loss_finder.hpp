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
    /// The next record of the trace. Returns the run of records that is missing in front of it, or
    /// that it tells of (a gap record), if any. What is missing before a CPU's first record is
    /// told by rest() only: a trace may begin anywhere.
    std::optional<abi::Loss> add(const abi::Record& record);

    /// The same of the next records, up to the first one that may tell of a loss, which is still to
    /// be added. Returns how many they are.
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
                    record.type == abi::RecordType::gap) {
                    break;
                }
            }
            cpu.next = next;
        }
        return count;
    }

    /// Behind the last record: those of `losses`, the trace's own, that add() has not told.
    std::vector<abi::Loss> rest(std::span<const abi::Loss> losses) const;

    /// The records that are missing by what add() told.
    std::uint64_t lost() const { return lost_; }

private:
    struct Cpu {
        bool known = false;
        std::uint32_t first = 0; ///< cpu_sequence of the first record
        std::uint32_t next = 0;  ///< that the next one should have
    };

    std::vector<Cpu> cpus_ = std::vector<Cpu>(256);
    std::uint64_t lost_ = 0;
};

} // namespace mmioscope::reading
