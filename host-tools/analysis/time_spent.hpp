// Where the time of a trace went: in devices, in traps, or in the guest between them.
#pragma once

#include "analysis/count_table.hpp"
#include "reading/drive.hpp"
#include "table/table.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mmioscope::analysis {

/// The time in a device is that of its accesses (abi/record.hpp). No record has the rest of a
/// trap's time (entry, waiting for the lock, the record, the return). But from the end of an
/// access to the beginning of the next one of its CPU there is one such rest, and what the guest
/// does between them, which is next to nothing in a loop. So the rest is taken for the tenth
/// percentile of these distances, for each CPU, between accesses by code that is at most 64 bytes
/// apart. It is too large where loops wait between their accesses, and not known if all traps of
/// the CPU would have taken longer than the trace.
class TimeSpent final : public reading::Consumer {
public:
    void add(const Event& event) override;

    /// A row for each device that was accessed, the most time first, and one for all; the time in
    /// traps is empty if it is not known for a CPU. `frequency`: of the counter, Hz, not 0.
    table::Table table(std::uint32_t frequency) const;

private:
    static constexpr unsigned percent = 10;
    static constexpr std::uint32_t loop = 64; ///< bytes of code

    struct Cpu {
        std::optional<std::uint64_t> end; ///< ticks; of the last access, if no record is missing
        std::uint32_t pc = 0;             ///< of that access
        std::uint64_t traps = 0;
        Histogram between; ///< ticks
    };
    /// The rest of a trap, in ticks; nothing: not known.
    std::optional<std::uint64_t> rest_of(const Cpu& cpu) const;

    struct Device {
        std::string name;
        std::uint64_t ticks = 0;                   ///< in accesses
        std::array<std::uint64_t, 256> accesses{}; ///< by CPU
    };

    std::array<Cpu, 256> cpus_;
    std::map<std::uint16_t, Device> devices_; ///< by Record::device
    std::uint64_t first_ = 0, last_ = 0;      ///< ticks; of the first access and the last
};

} // namespace mmioscope::analysis
