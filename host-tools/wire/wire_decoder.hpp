// Decodes the bytes of a stream into messages (abi/wire.hpp).
#pragma once

#include "abi/record_model.hpp"
#include "abi/wire.hpp"
#include "records/returns.hpp"
#include "wire/stream_head.hpp"
#include "wire/wire_frames.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mmioscope::wire {

// Reassembles from a boot's stream (abi/wire.hpp) what it kept of the previous boot: a small trace
// area (abi/ring.hpp), as in the hypervisor's memory.

/// The bytes of an area, aligned as in memory.
class AreaImage {
public:
    explicit AreaImage(std::size_t size);
    /// A copy of `bytes`.
    explicit AreaImage(std::span<const std::byte> bytes);

    std::span<std::byte> bytes() { return {pages_.data()->bytes, size_}; }
    std::span<const std::byte> bytes() const { return {pages_.data()->bytes, size_}; }

private:
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::vector<Page> pages_;
    std::size_t size_;
};

class KeptBoot {
public:
    /// Take the payloads of frames, and records from them. False if they are invalid.
    bool add_hello(std::span<const std::uint8_t> payload);
    void add_records(std::span<const abi::Record> records);
    bool add_end(std::span<const std::uint8_t> payload);

    /// Whether the description and the end have arrived, and fit each other.
    bool whole() const { return head_ && !cpus_.empty() && head_->info.cpu_count == cpus_.size(); }

    /// Call it once whole. Records of lost frames are missing, and their slots are empty.
    AreaImage area() const;

private:
    abi::AreaHeader header() const;
    void place_ring(AreaImage& image, const abi::AreaHeader& header, unsigned cpu) const;

    DescriptionPieces pieces_;
    std::optional<StreamHead> head_;
    std::vector<abi::Record> records_;
    abi::KeptEnd end_{};
    std::vector<abi::KeptCpu> cpus_;
};

// What arrives a second time: a sender may repeat itself, and captures of one boot may overlap.

/// Knows how far the records of one boot have come.
class FirstTime {
public:
    /// Removes the records that their CPU has passed: they have arrived before, or are too late for
    /// a trace, which has them in order. `late`: so are those of a CPU without any record so far.
    /// Every Record::cpu must be below abi::max_cpus.
    void keep_new(std::vector<abi::Record>& records, bool late);

    /// False if a record has arrived that `end` does not count. Otherwise the CPUs have passed all
    /// that it counts: what is missing of it is lost.
    bool pass(const abi::EndHeader& end);

private:
    struct Cpu {
        bool any = false;
        std::uint32_t next = 0; ///< cpu_sequence expected of the next record

        bool has_passed(std::uint32_t sequence) const {
            return any && static_cast<std::int32_t>(sequence - next) < 0;
        }
    };

    Cpu cpus_[abi::max_cpus];
};

/// Receives the messages. For one boot, hello comes once, then records, perhaps with ends.
class WireSink {
public:
    virtual ~WireSink() = default;

    /// A boot's description is known: that of the first boot, or of the next one after a reset.
    virtual void hello(const StreamHead& head) = 0;
    /// What the boot kept of the previous one: a trace area (abi/ring.hpp).
    virtual void previous_boot(std::span<const std::byte> /*area*/) {}
    /// The next records, in the order of time.
    virtual void records(std::span<const abi::Record> records) = 0;
    /// Comes before end() from a sender that knows it: how many records of each CPU were no
    /// accesses, modulo 2^32.
    virtual void others(std::span<const std::uint32_t> /*of_cpus*/) {}
    /// The boot is over, unless the guest does more before the machine ends: then that follows, and
    /// another end. `statistics`: one for each CPU.
    virtual void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) = 0;
    /// The accesses in whose middle CPUs were at that end; called behind end().
    virtual void unfinished(std::span<const abi::UnfinishedAccess>) {}
    /// The reply to a request over the wire.
    virtual void reply(const abi::control::Reply&) {}
};

class WireDecoder {
public:
    explicit WireDecoder(WireSink& sink);

    /// The next bytes, in pieces of any size. Throws Error (bad_input) if they have a newer
    /// version.
    void feed(std::span<const std::byte> bytes) { frames_.feed(bytes); }
    void finish() { frames_.finish(); }

    const WireCounts& counts() const { return frames_.counts(); }
    /// Undamaged frames with invalid content: another program's, or the sender's fault.
    std::uint64_t senseless() const { return senseless_; }
    /// Records that arrived too long before their description to be kept, or that have none so far.
    std::uint64_t forgotten() const { return forgotten_ + early_.records.size(); }
    /// Something behind the boot's last end could not be read: it was not the end.
    bool goes_on() const { return goes_on_; }

private:
    using Payload = std::span<const std::uint8_t>;

    Age read(const abi::FrameHeader& header, Payload payload);
    void spoilt(Payload piece);
    bool is_over(std::uint32_t boot) const;
    bool read_hello(const abi::FrameHeader& header, Payload payload, Age& age);
    bool read_records(const abi::FrameHeader& header, Payload payload, Age& age);
    bool read_reply(Payload payload);
    bool read_end(std::uint32_t boot, Payload payload);
    bool read_previous(const abi::FrameHeader& header, Payload payload);
    void begin(std::uint32_t boot, const StreamHead& head);
    bool hand_on(std::vector<abi::Record>& records, bool late);
    void hand_on_previous();

    struct End {
        abi::EndHeader header;
        std::vector<abi::Statistics> statistics;
        std::vector<std::uint32_t> others; ///< empty: not known
        std::vector<abi::UnfinishedAccess> unfinished;
    };
    void hand_on(const End& end);

    /// What has arrived of a boot before its description.
    struct Early {
        std::uint32_t boot = 0;
        KeptBoot kept;
        std::vector<abi::Record> records;
        std::optional<End> end; ///< the last frame, if it was one
    };
    Early& early_of(std::uint32_t boot);
    bool hand_on(Early early);
    void keep(std::uint32_t boot, std::span<const abi::Record> records);

    WireSink& sink_;
    WireFrames frames_;
    std::unique_ptr<abi::RecordModel> model_ = std::make_unique<abi::RecordModel>();
    DescriptionPieces pieces_;
    std::uint32_t pieces_of_ = 0;       ///< the boot of the pieces
    unsigned cpus_ = 0;                 ///< of that boot
    std::optional<std::uint32_t> boot_; ///< whose description the sink has
    std::vector<std::uint32_t> over_;   ///< the boots before it
    FirstTime first_time_;
    trace::Returns returns_;
    std::optional<abi::StreamEnd> ended_; ///< the last thing about that boot was this end
    bool goes_on_ = false;
    std::optional<KeptBoot> kept_; ///< as far as it has arrived; nothing: all of it has
    Early early_;
    std::uint64_t senseless_ = 0;
    std::uint64_t forgotten_ = 0;
};

} // namespace mmioscope::wire
