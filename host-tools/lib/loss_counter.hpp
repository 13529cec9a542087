// Counts what is missing in a stream of records, by cpu_sequence and gap records.
#pragma once

#include "abi/container.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::trace {

class LossCounter {
public:
    explicit LossCounter(unsigned cpus) : cpus_(cpus) {}

    /// Each record of the stream; those of one CPU in the order it published them.
    void add(const abi::Record& record);

    /// The writer of `cpu` has lost `lost` records, all told: what no gap record has told of
    /// was lost after the last record.
    void finish(unsigned cpu, std::uint64_t lost);

    /// The next record of `cpu` would have had this cpu_sequence: what is missing up to there was
    /// lost behind the last one.
    void finish_at(unsigned cpu, std::uint32_t sequence);

    const std::vector<abi::Loss>& losses() const { return losses_; }
    std::uint64_t lost() const { return lost_; }

private:
    struct Cpu {
        std::uint32_t next = 0; ///< cpu_sequence the next record should have
        std::uint64_t told = 0; ///< lost, by gap records
        std::uint64_t last_time = 0;
    };

    void note(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time);

    std::vector<Cpu> cpus_;
    std::vector<abi::Loss> losses_;
    std::uint64_t lost_ = 0;
};

} // namespace mmioscope::trace
