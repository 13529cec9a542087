// A trace as phases: from a marker, from the first access of a driver to a device, or from the end
// of an idle gap to the next such boundary. docs/phases.md defines it.
#pragma once

#include "analysis/poll.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mmioscope::analysis {

/// What a phase begins with.
enum class Boundary : std::uint8_t {
    start, ///< of the trace
    marker,
    probe, ///< a driver's first access to a device
    idle,  ///< the first access after a gap
};

/// Which phases to tell apart.
struct PhaseOptions {
    bool markers = true;
    bool probes = true;
    std::uint64_t gap = 100'000'000; ///< ns; the shortest idle gap. 0: none is one
};

class Phases final : public reading::Consumer {
public:
    explicit Phases(const PhaseOptions& options) : options_(options) {}

    void add(const Event& event) override;
    void forget() override { polls_.cut_all(); }
    void finish() override;

    /// A row for each phase, in the order of time. The end: nothing may be added.
    table::Table table();

private:
    /// The accesses of one phase.
    struct Phase {
        Boundary boundary = Boundary::start;
        std::uint64_t begin = 0; ///< ns
        std::uint64_t end = 0;   ///< ns; of its last access
        std::uint64_t idle = 0;  ///< ns without an access in front of it
        std::uint64_t event = 0; ///< number of the first
        std::uint64_t reads = 0, writes = 0;
        std::uint64_t polls = 0;
        std::uint64_t polled = 0; ///< ns from the first access of each poll to its last
        std::string name;         ///< of the marker, or the function
        std::string caller;       ///< of that function; empty: not known
        std::string devices;      ///< with their accesses, most first; the GIC last
    };
    /// A device of the phase that goes on.
    struct Used {
        std::string name;
        std::uint64_t accesses = 0;
        bool is_gic = false;
    };
    /// The first event of a phase.
    struct Begin {
        std::uint64_t event = 0;
        std::uint64_t phase = 0; ///< from 1 on
    };

    void begin(Boundary boundary, const Event& event, std::string name, std::string caller = {});
    void add_other(const Event& event);
    void pass_boundary(const Event& event, bool probes, bool idle);
    void close();
    const Used& count(const Event& event);
    Used* used(const Event& event);
    void add(const Poll& poll);
    bool is_first_of_driver(const Event& event);
    std::uint32_t driver_at(const Event& event);
    bool was_looked_at(const abi::Record& record);

    static constexpr std::size_t most_phases = 512;
    static constexpr std::size_t most_begins = 1024;  ///< to which a poll may belong
    static constexpr std::size_t most_drivers = 4096; ///< with their devices
    static constexpr std::size_t most_functions = 8192;
    static constexpr std::size_t most_devices = 256; ///< of a phase, by name
    static constexpr unsigned site_bits = 12;

    PhaseOptions options_;
    PollFinder polls_{[this](Thread, const Poll& poll) { add(poll); }};
    CappedMap<std::map<std::uint64_t, Phase>> phases_{most_phases}; ///< by number
    std::uint64_t number_ = 0;           ///< of the phase that goes on; 0: none does
    Phase* phase_ = nullptr;             ///< that goes on
    std::string prober_;                 ///< the function that began it; empty: none did
    std::map<std::uint16_t, Used> used_; ///< by Record::device
    struct Recent {
        std::uint16_t device = 0;
        Used* used = nullptr; ///< of used_
    };
    std::array<Recent, 64> recent_{};   ///< the last ones, by the device's last bits
    std::deque<Begin> begins_;          ///< of the last phases
    std::optional<std::uint64_t> last_; ///< ns; of the last access, if none was lost since
    std::unordered_map<std::string, std::uint32_t> drivers_; ///< numbers from 1 on
    std::unordered_set<std::uint64_t> pairs_;                ///< drivers and their devices
    std::vector<std::uint64_t> devices_of_; ///< of these, the first 64: a bit each, by driver
    struct Function {
        std::uint32_t size = 0; ///< bytes
        std::uint32_t driver = 0;
    };
    std::vector<std::uint32_t> starts_; ///< of the kernel's functions, in order
    std::vector<Function> functions_;   ///< of each of these
    /// Sites, by hash, of which it is known that they are no first access.
    std::vector<std::uint64_t> sites_ = std::vector<std::uint64_t>(std::size_t{1} << site_bits);
};

} // namespace mmioscope::analysis
