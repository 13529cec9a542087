// Checks that the records of a trace are in the order that the format promises (abi/container.hpp).
#pragma once

#include "records/backward.hpp"
#include "records/groups.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::trace {

class RecordCheck {
public:
    using Report = std::function<void(const std::string&)>;

    /// `wrong` is called for each misplaced record, `lost` for each missing run of records.
    RecordCheck(Report wrong, Report lost) : wrong_(std::move(wrong)), lost_(std::move(lost)) {}

    void add(std::span<const abi::Record> records);
    /// Behind the last record: how many groups lack a part (abi/payload.hpp), and which is the
    /// first; empty: none.
    std::string broken_groups() const;

    /// The trace is a part of another one: missing records are not losses.
    void expect_part() { part_ = true; }

    std::uint64_t count() const { return count_; }
    /// The number of records missing between others of the same CPU.
    std::uint64_t holes() const { return holes_; }
    const StepsBack& times_back() const { return times_back_; }

private:
    struct Cpu {
        std::optional<std::uint32_t> next;     ///< expected cpu_sequence of the next record
        std::optional<std::uint32_t> furthest; ///< the highest `next` that records went back from
        std::uint64_t time = 0;                ///< the latest so far
        std::uint64_t other_time = 0;          ///< `time` when the last record was no access
    };

    template <bool plain>
    void check(const abi::Record& record, Cpu& cpu);
    void check_time(const abi::Record& record, Cpu& cpu);
    void check_region(const abi::Record& record);
    void check_group(const abi::Record& record, const Cpu& cpu);
    void out_of_turn(const abi::Record& record, Cpu& cpu);

    bool part_ = false;
    Report wrong_;
    Report lost_;
    std::array<Cpu, 256> cpus_; ///< by Record::cpu
    /// The last lock_sequence, by Record::device, for any value that a file has.
    std::vector<std::optional<std::uint32_t>> locks_ =
        std::vector<std::optional<std::uint32_t>>(1u << 16);
    std::uint64_t time_ = 0;  ///< the latest Cpu::time
    std::uint64_t count_ = 0; ///< records before the current one
    std::uint64_t holes_ = 0;
    StepsBack times_back_;
    Groups groups_;
    std::uint64_t broken_ = 0;       ///< groups that lack a part
    std::uint64_t first_broken_ = 0; ///< the record that showed it first
};

} // namespace mmioscope::trace
