// Console and stream on one wire: each comes out unchanged, and damage stays local.
#include "catch_2_or_3.hpp"
#include "wire/wire_frames.hpp"

#include <algorithm>
#include <random>

using namespace mmioscope;
namespace shared = abi::shared_wire;

namespace {

using Bytes = std::vector<std::byte>;

/// Frames of any bytes except zero, each followed by a zero.
Bytes frames(unsigned seed, unsigned count) {
    std::mt19937 random(seed);
    Bytes bytes;
    for (unsigned n = 0; n < count; ++n) {
        for (auto size = random() % 40; size > 0; --size) {
            // Many bytes of ones, which have a different coding.
            bytes.push_back(static_cast<std::byte>(random() % 3 == 0 ? 0xff : 1 + random() % 255));
        }
        bytes.push_back(std::byte{0});
    }
    return bytes;
}

/// Sends a byte of the console, as the hypervisor lets the guest do it.
void say(std::mt19937& random, Bytes& bytes, Bytes& console) {
    const auto byte = static_cast<std::uint8_t>(random());
    const bool unknown = random() % 8 == 0; // marked, because it may be anything
    const std::uint8_t mark = shared::mark_of(byte);
    if (random() % 8 == 0) { // the guest's store was not made
        bytes.push_back(static_cast<std::byte>(mark));
        bytes.push_back(static_cast<std::byte>(shared::withdrawal_of(mark)));
        return;
    }
    if (unknown || shared::needs_mark(byte)) {
        bytes.push_back(static_cast<std::byte>(mark));
    }
    console.push_back(static_cast<std::byte>(byte));
    bytes.push_back(console.back());
}

/// Adds a byte of the console now and then; `console` collects them.
Bytes pack(const Bytes& stream, unsigned one_in, Bytes& console) {
    std::mt19937 random(1);
    shared::Packer packer;
    Bytes bytes;
    for (const std::byte byte : stream) {
        packer.add(std::to_integer<std::uint8_t>(byte));
        for (; packer.any(); packer.taken()) {
            if (random() % one_in == 0) {
                say(random, bytes, console);
            }
            bytes.push_back(static_cast<std::byte>(packer.next()));
        }
    }
    return bytes;
}

Bytes copy(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

std::vector<Bytes> split(std::span<const std::byte> stream) {
    std::vector<Bytes> pieces(1);
    for (const std::byte byte : stream) {
        if (byte == std::byte{0}) {
            pieces.emplace_back();
        } else {
            pieces.back().push_back(byte);
        }
    }
    return pieces;
}

} // namespace

TEST_CASE("stream and console come off a shared wire as they went on, in pieces of any size") {
    std::vector<bool> said(256);
    for (unsigned seed = 1; seed <= 50; ++seed) {
        const Bytes stream = frames(seed, 40);
        Bytes console;
        const Bytes shared = pack(stream, 1 + seed % 7, console);
        wire::SharedWire reader;
        Bytes stream_got;
        Bytes console_got;
        for (std::size_t at = 0; at < shared.size(); at += seed) {
            reader.feed(std::span(shared).subspan(at).first(
                std::min<std::size_t>(seed, shared.size() - at)));
            const Bytes more = copy(reader.stream());
            const Bytes said = copy(reader.console());
            stream_got.insert(stream_got.end(), more.begin(), more.end());
            console_got.insert(console_got.end(), said.begin(), said.end());
        }
        CHECK(stream_got == stream);
        CHECK(console_got == console);
        for (const std::byte byte : console) {
            said[std::to_integer<std::size_t>(byte)] = true;
        }
    }
    CHECK(std::ranges::find(said, false) == said.end());
}

TEST_CASE("eight bytes of the wire carry seven") {
    Bytes console;
    Bytes stream(7000, std::byte{0x35});
    CHECK(pack(stream, 1u << 30, console).size() == 8000);
}

TEST_CASE("damage anywhere on a shared wire spoils only the frames that it touches") {
    const Bytes stream = frames(3, 12);
    const std::vector<Bytes> whole = split(stream);
    Bytes console;
    const Bytes shared = pack(stream, GENERATE(1u << 30, 5u), console);
    for (std::size_t at = 0; at < shared.size(); ++at) {
        for (int how = 0; how < 10; ++how) {
            Bytes damaged = shared;
            if (how == 8) {
                damaged.erase(damaged.begin() + static_cast<long>(at));
            } else if (how == 9) {
                damaged.insert(damaged.begin() + static_cast<long>(at), std::byte{0xaa});
            } else {
                damaged[at] ^= static_cast<std::byte>(1 << how);
            }
            wire::SharedWire reader;
            reader.feed(damaged);
            const std::vector<Bytes> got = split(reader.stream());
            // Counted from both ends, all are there except at most two.
            std::size_t front = 0;
            while (front < got.size() && front < whole.size() && got[front] == whole[front]) {
                ++front;
            }
            std::size_t back = 0;
            while (back < got.size() && back < whole.size() &&
                   got[got.size() - 1 - back] == whole[whole.size() - 1 - back]) {
                ++back;
            }
            REQUIRE(front + back + 2 >= whole.size());
        }
    }
}
