// The result of a trace after reading: what was lost, and whether it is complete.
#pragma once

#include "abi/container.hpp"
#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "reading/drive.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "system/error.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::reading {

class Tally final : public Consumer {
public:
    /// `selects`: only some of the trace's events are added.
    explicit Tally(bool selects) : selects_(selects), seen_(1) {}

    void add(const Event& event) override { add_all(std::span(&event, 1)); }
    void add_all(std::span<const Event> events) override;

    const trace::Summary& summary() const { return summary_; }

    /// "policy: ...", unless nothing in the trace has one, and the verdict: one line each.
    std::string verdict(const trace::TraceReader& reader) const;

    /// As status_of(); failed, too, if records go back.
    Status status(const trace::TraceReader& reader) const;

    /// For a trace read only in part: fine if nothing in that part is damaged or shows losses.
    Status status_so_far(const trace::TraceReader& reader) const;

private:
    void add(const trace::Run& run);

    bool selects_;
    trace::Summary summary_;
    trace::LossCounter seen_; ///< losses visible in the records themselves
    trace::Backward backward_;
};

/// Whether the trace is complete as far as it was read, and neither its end nor its losses report
/// missing records. Call it after the last event.
bool is_whole(const trace::TraceReader& reader);

/// Likewise, if nothing else is wrong.
Status status_of(const trace::TraceReader& reader);

// Finds where records of a trace are missing while the trace is read.

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
