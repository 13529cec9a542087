// Checks that the records of a trace have the order that the format promises (abi/container.hpp).
#pragma once

#include "abi/record.hpp"

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

    /// `wrong` is told of each record that is not where it belongs, `lost` of each run that is
    /// missing.
    RecordCheck(Report wrong, Report lost) : wrong_(std::move(wrong)), lost_(std::move(lost)) {}

    void add(std::span<const abi::Record> records);

    /// Not all records of the trace are to be there: what is missing is no loss.
    void expect_part() { part_ = true; }

    std::uint64_t count() const { return count_; }
    /// Records that are missing between others of the same CPU.
    std::uint64_t holes() const { return holes_; }

private:
    struct Cpu {
        std::optional<std::uint32_t> next; ///< cpu_sequence that the next record should have
        std::uint64_t time = 0;            ///< the latest up to here
    };

    void check_cpu(const abi::Record& record, Cpu& cpu);
    void check_time(const abi::Record& record, Cpu& cpu);
    void check_region(const abi::Record& record);
    void out_of_turn(const abi::Record& record, Cpu& cpu);

    bool part_ = false;
    Report wrong_;
    Report lost_;
    std::array<Cpu, 256> cpus_; ///< by Record::cpu
    /// The last lock_sequence, by Record::device, whatever a file has there.
    std::vector<std::optional<std::uint32_t>> locks_ =
        std::vector<std::optional<std::uint32_t>>(1u << 16);
    std::uint64_t time_ = 0;  ///< the latest Cpu::time
    std::uint64_t count_ = 0; ///< records in front of the one that is looked at
    std::uint64_t holes_ = 0;
};

} // namespace mmioscope::trace
