// short-capture WIRE COUNT: damages a whole recorded stream COUNT times where it begins, at random
// places with a fixed seed, and checks what a listener makes of it. Whatever happens there, the
// description arrives; every record of an undamaged frame is kept and named; no wrong one arrives;
// and the records told lost are those that did not arrive. Exit status 0 if so, and if what
// describes the stream again is at most a twentieth of it.
#include "records/losses.hpp"
#include "wire/wire_decoder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>

using namespace mmioscope;

namespace {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

constexpr std::size_t beginning = 8 * 1024;
constexpr std::size_t rest = 8 * 1024; ///< bytes of the end that are left alone

struct Heard : wire::WireSink {
    std::vector<abi::Record> all;
    std::vector<std::size_t> of_frame; ///< records of each frame that has some
    trace::LossCounter losses{abi::max_cpus};
    std::string names;
    unsigned hellos = 0;
    unsigned ends = 0;
    std::uint64_t forgotten = 0;

    explicit Heard(View wire) {
        wire::WireDecoder decoder(*this);
        decoder.feed(wire);
        decoder.finish();
        forgotten = decoder.forgotten() + decoder.senseless();
    }
    void hello(const wire::StreamHead& head) override {
        ++hellos;
        for (const abi::RegionEntry& region : head.regions) {
            names += region.path;
            names += '\n';
        }
    }
    void records(std::span<const abi::Record> records) override {
        all.insert(all.end(), records.begin(), records.end());
        of_frame.push_back(records.size());
        for (const abi::Record& record : records) {
            losses.add(record);
        }
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics>) override {
        ++ends;
        for (unsigned cpu = 0; cpu < end.cpu_count; ++cpu) {
            losses.finish_at(cpu, end.next_sequence[cpu]);
        }
    }
};

/// Bytes [from, to) of the wire become `instead`.
struct Damage {
    const char* name;
    std::size_t from;
    std::size_t to;
    Bytes instead;
};

class Damages {
public:
    explicit Damages(View wire) : wire_(wire) {}

    Damage next() {
        const std::size_t at = below(beginning);
        switch (number_++ % 8) {
        case 0: return {"a bit flipped", at, at + 1, {wire_[at] ^ std::byte{1} << below(8)}};
        case 1: return {"a byte dropped", at, at + 1, {}};
        case 2: return {"a byte inserted", at, at, noise(1)};
        case 3: return {"a byte of zero", at, at + 1, {std::byte{0}}};
        case 4: return {"noise", at, at + 300, noise(300)};
        case 5: return {"the first 4 KiB missing", 0, 4096, {}};
        case 6: return {"the first 64 KiB missing", 0, std::min<std::size_t>(most(), 65'536), {}};
        default: return {"begun in the middle", 0, below(most()), {}};
        }
    }

private:
    std::size_t most() const { return wire_.size() - rest; }
    std::size_t below(std::size_t bound) { return random_() % bound; }
    Bytes noise(std::size_t size) {
        Bytes bytes(size);
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(random_());
        }
        return bytes;
    }

    View wire_;
    std::mt19937_64 random_{1};
    unsigned number_ = 0;
};

class Recording {
public:
    explicit Recording(Bytes wire) : wire_(std::move(wire)), whole_(wire_) {
        std::size_t number = 0;
        wire::WireFrames frames(
            [&](const abi::FrameHeader& header, std::span<const std::uint8_t>) {
                records_of_.push_back(
                    header.type == abi::FrameType::records ? whole_.of_frame.at(number++) : 0);
                describes_.push_back(header.type == abi::FrameType::hello);
                return wire::Age::unknown;
            },
            [](std::span<const std::uint8_t>) {});
        frames.feed(wire_);
        for (std::size_t at = 0; at + 1 < wire_.size(); ++at) {
            if (wire_[at] == std::byte{0} && wire_[at + 1] != std::byte{0}) {
                begins_.push_back(at);
            }
        }
        begins_.push_back(wire_.size() - 1);
    }

    bool is_whole() const {
        return whole_.hellos == 1 && whole_.ends > 0 && whole_.losses.lost() == 0 &&
               begins_.size() == records_of_.size() + 1 && wire_.size() > beginning + rest;
    }
    View wire() const { return wire_; }
    /// Bytes of frames that describe it again.
    std::size_t repeated() const {
        std::size_t bytes = 0;
        for (std::size_t n = 1; n < describes_.size(); ++n) {
            bytes += describes_[n] ? begins_[n + 1] - begins_[n] : 0;
        }
        return bytes;
    }
    std::size_t records() const { return whole_.all.size(); }

    /// Empty if the damage has only its permitted effects.
    std::string check(const Damage& damage) const {
        Bytes bytes(wire_.begin(), wire_.begin() + static_cast<long>(damage.from));
        bytes.insert(bytes.end(), damage.instead.begin(), damage.instead.end());
        bytes.insert(bytes.end(), wire_.begin() + static_cast<long>(damage.to), wire_.end());
        const Heard heard(bytes);
        if (heard.hellos != 1 || heard.ends != whole_.ends) {
            return "no trace";
        }
        if (heard.names != whole_.names) {
            return "other names";
        }
        if (!in_order(heard.all)) {
            return "a record that was never sent";
        }
        if (heard.all.size() < untouched(damage)) {
            return "records are lost that were not damaged";
        }
        const std::size_t lost = whole_.all.size() - heard.all.size();
        if (heard.losses.lost() != lost || heard.forgotten != 0) {
            return "not as many records lost as are told";
        }
        return "";
    }

private:
    bool in_order(const std::vector<abi::Record>& got) const {
        std::size_t at = 0;
        for (const abi::Record& record : got) {
            while (at < whole_.all.size() &&
                   std::memcmp(&record, &whole_.all[at], sizeof record) != 0) {
                ++at;
            }
            if (at++ == whole_.all.size()) {
                return false;
            }
        }
        return true;
    }

    /// The records of frames that lie before or behind the damage, with the zeros around them.
    std::size_t untouched(const Damage& damage) const {
        std::size_t count = 0;
        for (std::size_t n = 0; n < records_of_.size(); ++n) {
            if (begins_[n + 1] < damage.from || begins_[n] >= damage.to) {
                count += records_of_[n];
            }
        }
        return count;
    }

    Bytes wire_;
    Heard whole_;
    std::vector<std::size_t> records_of_; ///< each frame
    std::vector<bool> describes_;         ///< each frame
    std::vector<std::size_t> begins_;     ///< for each frame, the zero before it; and the end
};

} // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: short-capture WIRE COUNT\n");
        return 2;
    }
    std::ifstream file(arguments[1], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    const Recording recording(bytes);
    if (!recording.is_whole()) {
        std::fprintf(stderr, "short-capture: %s is not a whole stream\n", arguments[1]);
        return 2;
    }
    Damages damages(recording.wire());
    std::map<std::string, std::size_t> wrong;
    std::size_t all = 0;
    const int tries = std::atoi(arguments[2]);
    for (int n = 0; n < tries; ++n) {
        const Damage damage = damages.next();
        const std::string what = recording.check(damage);
        if (!what.empty() && wrong[what]++ == 0) {
            std::printf("byte %zu, %s: %s\n", damage.from, damage.name, what.c_str());
        }
        all += what.empty() ? 0 : 1;
    }
    for (const auto& [what, times] : wrong) {
        std::printf("%zu times: %s\n", times, what.c_str());
    }
    std::printf("%d damages of the beginning of %zu bytes, %zu records: %zu wrong\n", tries,
                recording.wire().size(), recording.records(), all);
    const std::size_t repeated = recording.repeated();
    std::printf("the description again: %zu bytes, %.1f %%\n", repeated,
                100.0 * static_cast<double>(repeated) /
                    static_cast<double>(recording.wire().size()));
    return all == 0 && tries > 0 && repeated * 20 <= recording.wire().size() ? 0 : 1;
}
