// every-byte WIRE: damages a recorded stream at each byte of its first 16 KiB, in every way that a
// line can, and checks what a listener receives. It must lose and report damaged frames; all others
// must arrive unchanged, in order. Exit status 0 if so.
//
// Frames are decoded independently, so a result for frames also holds for their records. This is
// checked, too, with the whole decoder, where a frame begins and ends and at one place in
// whole_decoder_each: the number of records reported lost must equal the number of those that did
// not arrive, for each CPU up to its last one that did.
#include "records/losses.hpp"
#include "wire/wire_decoder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <string>

using namespace mmioscope;

namespace {

using Bytes = std::vector<std::byte>;
using Records = std::vector<abi::Record>;
using View = std::span<const std::byte>;

constexpr std::size_t length = 16 * 1024;
constexpr std::size_t whole_decoder_each = 67; ///< one of this many places with the whole decoder

enum class Way { drop, insert_zero, insert_other, cut, flip }; ///< from here on, for each bit
constexpr int ways = static_cast<int>(Way::flip) + 8;

const char* name_of(int way) {
    constexpr const char* names[] = {"dropped", "a zero before it", "a byte before it", "cut",
                                     "flipped"};
    return names[std::min(way, static_cast<int>(Way::flip))];
}

Bytes damaged(View wire, std::size_t at, int way) {
    Bytes bytes(wire.begin(), wire.end());
    const auto place = bytes.begin() + static_cast<long>(at);
    switch (static_cast<Way>(way)) {
    case Way::drop: bytes.erase(place); break;
    case Way::insert_zero: bytes.insert(place, std::byte{0}); break;
    case Way::insert_other: bytes.insert(place, std::byte{0x55}); break;
    case Way::cut: bytes.resize(at); break;
    default: *place ^= std::byte{1} << (way - static_cast<int>(Way::flip)); break;
    }
    return bytes;
}

/// What WireFrames returns for a piece of wire: its frames, and its counts.
struct Heard {
    std::vector<Bytes> frames;
    wire::WireCounts counts;
};

Heard hear(View wire) {
    Heard heard;
    wire::WireFrames frames(
        [&](const abi::FrameHeader& header, std::span<const std::uint8_t> payload) {
            Bytes& frame = heard.frames.emplace_back(sizeof header + payload.size());
            std::memcpy(frame.data(), &header, sizeof header);
            if (!payload.empty())
                std::memcpy(frame.data() + sizeof header, payload.data(), payload.size());
            return wire::Age::unknown;
        },
        [](std::span<const std::uint8_t>) {});
    frames.feed(wire);
    frames.finish();
    heard.counts = frames.counts();
    return heard;
}

/// What a listener gets from a piece of wire.
struct Decoded : wire::WireSink {
    Records all;
    trace::LossCounter losses{1};

    explicit Decoded(View wire) {
        wire::WireDecoder decoder(*this);
        decoder.feed(wire);
        decoder.finish();
    }
    void hello(const wire::StreamHead&) override {}
    void records(std::span<const abi::Record> records) override {
        all.insert(all.end(), records.begin(), records.end());
        for (const abi::Record& record : records) losses.add(record);
    }
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
};

/// The recorded wire, split at its zeros.
class Recording {
public:
    explicit Recording(Bytes wire);

    std::size_t size() const { return wire_.size(); }
    std::size_t frames() const { return begins_.size() - 1; }
    std::size_t records() const { return records_; }
    /// Before any damage.
    std::uint64_t lost() const { return Decoded(wire_).losses.lost(); }
    /// Empty if the damage at `at` has only its permitted effects.
    std::string check(std::size_t at, int way) const;

private:
    std::size_t frame_at(std::size_t at) const;
    /// The number of frames at the start that describe the rest.
    std::size_t descriptions() const;
    View part(std::size_t from, std::size_t to) const {
        return View(wire_).subspan(begins_[from],
                                   begins_[to] + 1 - begins_[from]); // includes the zero after it
    }
    std::string check_records(std::size_t at, int way, std::size_t lost,
                              std::size_t lost_end) const;
    /// Whether it is in a frame's first or last bytes, or the zero between two.
    bool at_edge(std::size_t at) const;
    std::size_t missing(const std::vector<bool>& came) const;

    Bytes wire_;
    std::vector<std::size_t> begins_; ///< for each frame, the zero before it; and the end
    std::vector<Bytes> sent_;         ///< the frames
    std::vector<Records> of_frame_;   ///< their records
    std::size_t records_ = 0;
};

Recording::Recording(Bytes wire) : wire_(std::move(wire)) {
    for (std::size_t at = 0; at + 1 < wire_.size(); ++at)
        if (wire_[at] == std::byte{0} && wire_[at + 1] != std::byte{0}) begins_.push_back(at);
    begins_.push_back(wire_.size() - 1);
    sent_ = hear(wire_).frames;
    for (std::size_t n = 0; n < sent_.size(); ++n) {
        const View described = part(0, descriptions());
        Bytes alone(described.begin(), described.end());
        if (n >= descriptions())
            alone.insert(alone.end(), part(n, n + 1).begin(), part(n, n + 1).end());
        of_frame_.push_back(Decoded(alone).all);
        records_ += of_frame_.back().size();
    }
}

std::size_t Recording::descriptions() const {
    std::size_t n = 0;
    while (n < sent_.size() &&
           sent_[n][0] == static_cast<std::byte>(static_cast<std::uint8_t>(abi::FrameType::hello)))
        ++n;
    return n;
}

std::size_t Recording::frame_at(std::size_t at) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end() - 1, at);
    return static_cast<std::size_t>(behind - begins_.begin()) - 1;
}

/// From the frame before the damage to the one after it: other frames are unchanged.
std::string Recording::check(std::size_t at, int way) const {
    const std::size_t hit = frame_at(at);
    const bool zero = wire_[at] == std::byte{0}; // it ends the previous frame, too
    const std::size_t lost = zero && hit > 0 ? hit - 1 : hit;
    const std::size_t from = lost > 0 ? lost - 1 : 0;
    const std::size_t to = std::min(hit + 2, frames());
    const Bytes bytes = damaged(part(from, to), at - begins_[from], way);
    const Heard heard = hear(bytes);
    const bool cut = static_cast<Way>(way) == Way::cut;
    std::size_t next = from;
    for (const Bytes& frame : heard.frames) {
        while (next < to && sent_[next] != frame) {
            if (next < lost || (next > hit && !cut)) return "a frame is lost that was not damaged";
            ++next;
        }
        if (next == to) return "a frame that was never sent";
        ++next;
    }
    if (!cut && next < hit + 1 && to > hit + 1) return "a frame is lost that was not damaged";
    const bool any_lost = heard.frames.size() < to - from;
    const bool late = at == 0; // bytes before the first zero do not count
    if (any_lost && !cut && !late && heard.counts.damaged + heard.counts.missing == 0)
        return "a lost frame is not told of";
    if (cut && !zero && heard.counts.damaged == 0 && at != begins_[hit] + 1 && hit > 0)
        return "a cut frame is not told of";
    const bool whole = at % whole_decoder_each == 0 || at_edge(at);
    return whole ? check_records(at, way, lost, hit + 1) : "";
}

bool Recording::at_edge(std::size_t at) const {
    return std::any_of(begins_.begin(), begins_.end(),
                       [at](std::size_t zero) { return at + 1 >= zero && at <= zero + 1; });
}

/// Records that a listener can know are missing: a later one of the same CPU arrived.
std::size_t Recording::missing(const std::vector<bool>& came) const {
    bool behind[abi::max_cpus] = {};
    std::size_t count = 0;
    for (std::size_t n = frames(); n-- > 0;)
        for (const abi::Record& record : of_frame_[n]) {
            if (came[n]) behind[record.cpu] = true;
            else count += behind[record.cpu] ? 1 : 0;
        }
    return count;
}

std::string Recording::check_records(std::size_t at, int way, std::size_t lost,
                                     std::size_t lost_end) const {
    const Decoded decoded(damaged(wire_, at, way));
    const Records& got = decoded.all;
    const bool cut = static_cast<Way>(way) == Way::cut;
    if (lost < descriptions() && got.empty()) return ""; // their meaning is unknown
    std::size_t place = 0;
    std::vector<bool> came(frames());
    for (std::size_t n = 0; n < frames() && !(cut && n >= lost_end); ++n) {
        const Records& sent = of_frame_[n];
        const bool here = got.size() - place >= sent.size() &&
                          (sent.empty() || std::memcmp(got.data() + place, sent.data(),
                                                       sent.size() * sizeof sent[0]) == 0);
        came[n] = here;
        if (here) place += sent.size();
        else if (n < lost || n >= lost_end) return "records are lost that were not damaged";
    }
    if (place != got.size()) return "a record that was never sent";
    return decoded.losses.lost() == missing(came) ? "" : "not as many records lost as are told";
}

struct Tally {
    std::size_t tried = 0;
    std::map<std::string, std::size_t> wrong;
};

Tally damage_all(const Recording& recording, std::size_t from, std::size_t to) {
    Tally tally;
    for (std::size_t at = from; at < to; ++at)
        for (int way = 0; way < ways; ++way, ++tally.tried)
            if (const std::string what = recording.check(at, way); !what.empty())
                if (tally.wrong[what]++ == 0)
                    std::printf("byte %zu %s: %s\n", at, name_of(way), what.c_str());
    return tally;
}

/// On two threads, half of the bytes each.
Tally damage_all(const Recording& recording) {
    const std::size_t middle = recording.size() / 2;
    auto first = std::async(std::launch::async, [&] { return damage_all(recording, 0, middle); });
    Tally all = damage_all(recording, middle, recording.size());
    const Tally other = first.get();
    all.tried += other.tried;
    for (const auto& [what, times] : other.wrong) all.wrong[what] += times;
    return all;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: every-byte WIRE\n");
        return 2;
    }
    std::ifstream file(arguments[1], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::size_t end = text.find('\0', length); // of the frame across the end of 16 KiB
    if (end == std::string::npos) {
        std::fprintf(stderr, "every-byte: no frame in %s ends behind %zu bytes\n", arguments[1],
                     length);
        return 2;
    }
    Bytes bytes(end + 1);
    std::memcpy(bytes.data(), text.data(), bytes.size());
    const Recording recording(bytes);
    if (recording.lost() > 0) {
        std::fprintf(stderr, "every-byte: %s lacks records before any damage\n", arguments[1]);
        return 2;
    }
    const Tally tally = damage_all(recording);
    std::size_t all = 0;
    for (const auto& [what, times] : tally.wrong) all += times;
    std::printf("%zu damages of %zu bytes, %zu frames, %zu records: %zu wrong\n", tally.tried,
                recording.size(), recording.frames(), recording.records(), all);
    return all == 0 && recording.records() > 0 ? 0 : 1;
}
