// Decodes the bytes of a stream into its messages (abi/wire.hpp).
#pragma once

#include "wire/kept_boot.hpp"
#include "wire/stream_head.hpp"
#include "wire/wire_frames.hpp"

namespace mmioscope::wire {

/// Who is told. Calls for one boot: hello once, then records, perhaps with ends.
class WireSink {
public:
    virtual ~WireSink() = default;

    /// A boot's description is known: of its first, or of the next one's after a reset.
    virtual void hello(const StreamHead& head) = 0;
    /// What the boot has kept of the one before it: a trace area (abi/ring.hpp).
    virtual void previous_boot(std::span<const std::byte> /*area*/) {}
    /// The next records, in the order of time.
    virtual void records(std::span<const abi::Record> records) = 0;
    /// Nothing follows from this boot, unless the guest does more before the machine ends: then
    /// that and another end. `statistics`: one for each CPU.
    virtual void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) = 0;
    /// The reply to somebody's request over the wire.
    virtual void reply(const abi::control::Reply&) {}
};

class WireDecoder {
public:
    explicit WireDecoder(WireSink& sink);

    /// The next bytes, in pieces of any size. Throws Error (bad_input) if they are of a newer
    /// version.
    void feed(std::span<const std::byte> bytes) { frames_.feed(bytes); }
    void finish() { frames_.finish(); }

    const WireCounts& counts() const { return frames_.counts(); }
    /// Frames that are sound but make no sense: another program's, or a fault of the sender's.
    std::uint64_t senseless() const { return senseless_; }
    /// Records that came so long before their description that they could not be kept.
    std::uint64_t forgotten() const { return forgotten_; }

private:
    using Payload = std::span<const std::uint8_t>;

    void take(const abi::FrameHeader& header, Payload payload);
    bool take_hello(std::uint32_t boot, Payload payload);
    bool take_records(std::uint32_t boot, Payload payload);
    bool take_reply(Payload payload);
    bool take_end(std::uint32_t boot, Payload payload);
    bool take_previous(const abi::FrameHeader& header, Payload payload);
    bool hand_on(std::span<const abi::Record> records);
    void keep(std::uint32_t boot, std::span<const abi::Record> records);

    WireSink& sink_;
    WireFrames frames_;
    DescriptionPieces pieces_;
    std::uint32_t pieces_of_ = 0;       ///< boot that the pieces are of
    unsigned cpus_ = 0;                 ///< of that boot
    std::optional<std::uint32_t> boot_; ///< whose description the sink has
    KeptBoot kept_;                     ///< by that boot, as far as it has come
    std::uint32_t early_boot_ = 0;
    std::vector<abi::Record> early_; ///< of a boot whose description has not come yet
    std::uint64_t senseless_ = 0;
    std::uint64_t forgotten_ = 0;
};

} // namespace mmioscope::wire
