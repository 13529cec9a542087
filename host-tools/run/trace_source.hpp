// The source of a run's trace: the rings in the guest's RAM, or the stream on a UART.
#pragma once

#include "file/about.hpp"
#include "linux/onlooker.hpp"
#include "rings/recorder.hpp"
#include "run/guest_memory.hpp"
#include "run/plan.hpp"
#include "wire/stream_recorder.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mmioscope::run {

/// What came of a trace, for the closing words.
struct TraceResult {
    const trace::Summary& summary;
    const trace::LossCounter& losses;
    std::vector<abi::RegionEntry> regions;
    std::vector<abi::Statistics> statistics;
    std::uint32_t counter_frequency;
    abi::EngineKind engine;
    abi::Policy policy; ///< at the start
    std::string doubts; ///< why it may not be all there although nothing is lost; or empty
    std::uint64_t stream_bytes = 0; ///< on the wire; 0: it came by none
};

class TraceSource {
public:
    virtual ~TraceSource() = default;

    /// The hypervisor has said what it traces.
    virtual bool ready() = 0;
    /// Once it is ready: writes what stands in front of the records. `file` stays the caller's.
    virtual void begin(trace::FileWriter& file, const trace::About& about) = 0;
    /// Takes what has come since. Returns how much of it there was.
    virtual std::size_t pass() = 0;
    virtual const trace::Summary& summary() const = 0;
    /// After begin(): ticks of its clock in a second.
    virtual std::uint32_t frequency() const = 0;
    /// The machine has stopped: takes the rest and ends the file.
    virtual void finish(abi::Ending ending) = 0;
    /// After finish().
    virtual TraceResult result() const = 0;
    /// After finish(), before the machine is reset: where the next boot's trace comes from.
    virtual std::unique_ptr<TraceSource> next_boot() const = 0;
};

/// The rings.
class MemorySource : public TraceSource {
public:
    /// Both stay the caller's.
    MemorySource(const Plan& plan, const GuestMemory& memory);

    bool ready() override;
    void begin(trace::FileWriter& file, const trace::About& about) override;
    std::size_t pass() override { return recorder_->pass(); }
    const trace::Summary& summary() const override { return recorder_->summary(); }
    std::uint32_t frequency() const override { return area_->header().counter_frequency; }
    void finish(abi::Ending ending) override { recorder_->finish(ending); }
    TraceResult result() const override;
    std::unique_ptr<TraceSource> next_boot() const override;

private:
    const Plan& plan_;
    const GuestMemory& memory_;
    std::span<std::byte> bytes_;
    std::optional<rings::BootId> before_; ///< left in memory by an earlier run
    std::optional<rings::Area> area_;
    std::optional<linux_guest::Onlooker> onlooker_;
    std::optional<rings::Recorder> recorder_;
};

/// The stream, which QEMU writes into a file.
class StreamSource : public TraceSource {
public:
    /// `fd` is the file, and stays the caller's; `from`: where in it the boot begins.
    explicit StreamSource(int fd, std::uint64_t from = 0) : fd_(fd), from_(from), read_(from) {}

    bool ready() override;
    void begin(trace::FileWriter& file, const trace::About& about) override;
    std::size_t pass() override;
    const trace::Summary& summary() const override { return recorder_->summary(); }
    std::uint32_t frequency() const override { return recorder_->head()->info.counter_frequency; }
    void finish(abi::Ending ending) override;
    TraceResult result() const override;
    std::unique_ptr<TraceSource> next_boot() const override;

private:
    std::span<const std::byte> read_more();

    int fd_;
    std::uint64_t from_;
    std::uint64_t read_; ///< bytes of the file
    std::vector<std::byte> buffer_;
    std::vector<std::byte> first_; ///< what came until it was ready
    std::optional<wire::StreamRecorder> recorder_;
};

} // namespace mmioscope::run
