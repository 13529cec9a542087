// A trace for Perfetto (ui.perfetto.dev, trace_processor): protobuf, with the public field numbers.
// tests/export/perfetto.proto describes the fields used.
#pragma once

#include "export/columns.hpp"
#include "export/sink.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mmioscope::exporting {

// Recurring texts of a Perfetto trace: each is written once, and is a number from then on
// (InternedData of Perfetto's protocol).

class PerfettoNames {
public:
    /// Each kind has its own numbers. The values are fields of InternedData.
    enum class Kind : std::uint8_t { event = 2, note = 3, text = 29 };

    /// The number of `text`. The packet must define a new one: it is in take_added().
    std::uint64_t number_of(Kind kind, std::string_view text);

    /// The definitions for the current packet, as an InternedData; empty if none. They count as
    /// written.
    std::string take_added();

    /// Call before each packet. Forgets all numbers if there are very many. Returns whether none is
    /// known; then the packet must say so.
    bool begin_packet();

private:
    static constexpr std::size_t most = 4'096;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    using Numbers = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

    Numbers& of(Kind kind);

    Numbers events_, notes_, texts_;
    std::string added_;
};

class Perfetto : public Exporter {
public:
    explicit Perfetto(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    void add_access(const Event& event);
    void add_instant(const Event& event);
    void end_slice(std::uint16_t device, std::uint64_t not_after);
    void count(const Event& event);
    void write_rates();
    void describe_cpu(std::uint8_t cpu);
    void show_task(const Event& event);
    void show_interrupt(const Event& event);
    void show_value(const Event& event);
    void show_call(const Event& event);
    void begin_span(std::uint64_t track, std::uint64_t nanoseconds, std::string_view name);
    void end_span(std::uint64_t track, std::uint64_t nanoseconds);

    static constexpr std::uint64_t rate_period = 10'000'000; ///< ns

    Sink& sink_;
    PerfettoNames names_;
    Cells cells_;
    std::set<std::uint8_t> cpus_;                     ///< with a track
    std::map<std::uint16_t, std::uint64_t> open_;     ///< ends of slices, by device
    std::map<std::string, std::uint64_t> interrupts_; ///< tracks, by CPU and interrupt
    std::map<std::string, std::uint64_t> callers_;    ///< tracks of calls, by task
    std::map<std::uint64_t, std::string> spans_;      ///< open slices, by track
    std::uint64_t latest_ = 0;                        ///< ns
    struct Value {
        std::uint64_t track;
        std::uint64_t last;
    };
    std::map<std::string, Value> values_;             ///< by device and register
    std::map<std::uint16_t, std::uint64_t> accesses_; ///< in this period, by device
    std::uint64_t period_ = 0;
    std::uint64_t shortened_ = 0;
};

} // namespace mmioscope::exporting
