// The values of registers in the course of time.
#pragma once

#include "reading/drive.hpp"
#include "report/time_buckets.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace mmioscope::report {

/// The values that accesses to a register read or wrote in one bucket, or while they stayed the
/// same.
struct Seen {
    std::uint64_t begin = 0; ///< ns; of the first access
    std::uint64_t end = 0;   ///< ns; of the last access
    std::uint64_t event = 0; ///< number of the first access
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t ones = 0;  ///< bits that were one in any of the values
    std::uint64_t zeros = 0; ///< bits that were zero in any of them
    std::uint64_t last = 0;
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;

    void add(const Seen& next);
};

/// Memory: 8 MiB. Accesses to a part of a register, and those whose value is not known, are left
/// out.
class Values final : public reading::Consumer {
public:
    static constexpr std::size_t most_registers = 1024;
    static constexpr std::size_t most_cells = 50'000; ///< of all registers

    struct Series {
        std::string device;
        std::string name;              ///< of the register; "+0x034" without a description
        const Register* reg = nullptr; ///< null: no description
        TimeBuckets<Seen> buckets;
    };

    void add(const Event& event) override;

    /// Record::device, offset, and name: what is read there may be another register than what is
    /// written.
    using Key = std::tuple<std::uint16_t, std::uint64_t, std::string_view>;
    /// By device and offset. Valid while the trace is open.
    const std::map<Key, Series>& series() const { return series_; }
    /// Accesses to registers that came when there was no room left.
    std::uint64_t left_out() const { return left_out_; }

private:
    Series* of(const Event& event);

    std::map<Key, Series> series_;
    SharedRoom<Seen> room_{most_cells};
    std::uint64_t left_out_ = 0;
};

} // namespace mmioscope::report
