// The source of a run's trace: the rings in the guest's RAM, or the stream on a UART.
#pragma once

#include "file/texts.hpp"
#include "linux/caller_finder.hpp"
#include "rings/recorder.hpp"
#include "run/board.hpp"
#include "run/plan.hpp"
#include "system/file_descriptor.hpp"
#include "wire/stream_recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::run {

// The guest's RAM: a memory file that QEMU and this program both map.

class GuestMemory {
public:
    /// Maps `size` bytes from `board`'s RAM base on: the file `path`, which is created if
    /// necessary, or zeros if `path` is empty. Throws Error.
    GuestMemory(const Board& board, std::uint64_t size, const std::string& path);
    ~GuestMemory();
    GuestMemory(const GuestMemory&) = delete;
    GuestMemory& operator=(const GuestMemory&) = delete;

    int fd() const { return file_.get(); }

    /// The `size` bytes at physical `address`; empty if not all of them are RAM.
    std::span<std::byte> at(std::uint64_t address, std::uint64_t size) const;

    /// All of RAM, and its first address.
    std::span<std::byte> bytes() const { return {bytes_, size_}; }
    std::uint64_t base() const { return base_; }

private:
    std::uint64_t base_;
    std::uint64_t size_;
    FileDescriptor file_;
    std::byte* bytes_;
};

/// The result of a trace, for the final output.
struct TraceResult {
    const trace::Summary& summary;
    const trace::LossCounter& losses;
    std::vector<abi::RegionEntry> regions;
    std::vector<abi::Statistics> statistics;
    std::uint32_t counter_frequency;
    abi::EngineKind engine;
    abi::Policy policy;             ///< initial policy
    std::string doubts;             ///< why it may be incomplete although nothing is lost; or empty
    std::uint64_t stream_bytes = 0; ///< on the wire; 0: no stream
};

class TraceSource {
public:
    virtual ~TraceSource() = default;

    /// Whether the hypervisor has said what it traces.
    virtual bool ready() = 0;
    /// Call it once ready: writes what comes before the records. `file` belongs to the caller.
    virtual void begin(trace::FileWriter& file, const trace::About& about) = 0;
    /// Takes everything that has arrived. Returns how much that was.
    virtual std::size_t pass() = 0;
    virtual const trace::Summary& summary() const = 0;
    /// Ticks of its clock per second; known after begin().
    virtual std::uint32_t frequency() const = 0;
    /// Nothing that the guest has done so far is still on its way.
    virtual bool has_all() const { return true; }
    /// The machine has stopped: takes the remaining records and ends the file.
    virtual void finish(abi::Ending ending) = 0;
    /// Call it after finish(). `console`: the end of the guest's.
    virtual TraceResult result(std::string_view console) const = 0;
    /// The source of the next boot's trace. Call it after finish(), before the machine is reset.
    virtual std::unique_ptr<TraceSource> next_boot() const = 0;
};

/// Reads the rings.
class MemorySource : public TraceSource {
public:
    /// The caller owns both.
    MemorySource(const Plan& plan, const GuestMemory& memory);

    bool ready() override;
    void begin(trace::FileWriter& file, const trace::About& about) override;
    std::size_t pass() override { return recorder_->pass(); }
    const trace::Summary& summary() const override { return recorder_->summary(); }
    std::uint32_t frequency() const override { return area_->header().counter_frequency; }
    void finish(abi::Ending ending) override { recorder_->finish(ending); }
    TraceResult result(std::string_view console) const override;
    std::unique_ptr<TraceSource> next_boot() const override;

private:
    const Plan& plan_;
    const GuestMemory& memory_;
    std::span<std::byte> bytes_;
    std::optional<rings::BootId> before_; ///< of an area that an earlier run left in memory
    std::optional<rings::Area> area_;
    std::optional<linux_guest::Onlooker> onlooker_;
    std::optional<rings::Recorder> recorder_;
};

/// Reads the stream, which QEMU writes into a file.
class StreamSource : public TraceSource {
public:
    /// `fd` is the file, which belongs to the caller; the boot begins at `from`.
    explicit StreamSource(int fd, std::uint64_t from = 0) : fd_(fd), from_(from), read_(from) {}

    bool ready() override;
    void begin(trace::FileWriter& file, const trace::About& about) override;
    std::size_t pass() override;
    const trace::Summary& summary() const override { return recorder_->summary(); }
    std::uint32_t frequency() const override { return recorder_->head()->info.counter_frequency; }
    bool has_all() const override { return recorder_->ended().has_value(); }
    void finish(abi::Ending ending) override;
    TraceResult result(std::string_view console) const override;
    std::unique_ptr<TraceSource> next_boot() const override;

private:
    std::span<const std::byte> read_more();

    int fd_;
    std::uint64_t from_;
    std::uint64_t read_; ///< bytes of the file
    std::vector<std::byte> buffer_;
    std::vector<std::byte> first_; ///< what arrived before it was ready

    /// Waits only for the description.
    struct Head : wire::WireSink {
        bool found = false;

        void hello(const wire::StreamHead&) override { found = true; }
        void records(std::span<const abi::Record>) override {}
        void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
    };
    Head head_;
    wire::WireDecoder head_decoder_{head_};
    std::optional<wire::StreamRecorder> recorder_;
};

} // namespace mmioscope::run
