// Offsets of name and pid in task_struct, found from init_task in an image.
#include "catch_2_or_3.hpp"
#include "symbols/kernel_image.hpp"

#include <cstring>
#include <random>
#include <vector>

using namespace mmioscope;
using symbols::find_task_offsets;
using symbols::TaskOffsets;

namespace {

constexpr std::uint32_t address = 0xc161'0680; ///< of init_task
constexpr std::size_t begin = 0x3000;          ///< in the image
constexpr std::uint32_t parent = 0x63c;
constexpr std::uint32_t comm = 0x780;

struct Image {
    std::vector<std::byte> bytes = std::vector<std::byte>(0x8000);

    void set(std::size_t at, std::uint32_t word) { std::memcpy(&bytes[at], &word, sizeof word); }
    void set_text(std::size_t at, const char* text) {
        std::memcpy(&bytes[at], text, std::strlen(text));
    }
    auto find(bool canary) const { return find_task_offsets(bytes, canary); }
};

/// Noise around an init_task as the compiler makes it.
Image sound(unsigned seed = 1) {
    Image image;
    std::mt19937 random(seed);
    for (std::size_t at = 0; at < image.bytes.size(); at += 4) {
        image.set(at, static_cast<std::uint32_t>(random()));
    }
    std::memset(&image.bytes[begin + parent - 12], 0, 12);
    const std::uint32_t words[] = {address,
                                   address,
                                   address + parent + 8,
                                   address + parent + 8,
                                   address + parent + 16,
                                   address + parent + 16,
                                   address};
    std::memcpy(&image.bytes[begin + parent], words, sizeof words);
    std::memset(&image.bytes[begin + comm], 0, 16);
    image.set_text(begin + comm, "swapper");
    return image;
}

} // namespace

TEST_CASE("init_task shows the offsets of name and pid, with and without a canary", "[tasks]") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CHECK(sound(seed).find(true) == TaskOffsets{comm, parent - 12});
        CHECK(sound(seed).find(false) == TaskOffsets{comm, parent - 8});
    }
    Image decoy = sound();
    decoy.set_text(0x400, "swapper\0\0\0\0\0\0\0\0");
    decoy.set_text(begin + 0x100, "swapper/0");
    CHECK(decoy.find(true) == TaskOffsets{comm, parent - 12});
}

TEST_CASE("an object that is not init_task gives no offsets", "[tasks]") {
    for (std::size_t word = 0; word < 7; ++word) {
        Image image = sound();
        image.set(begin + parent + 4 * word, 0xc161'0684);
        CAPTURE(word);
        CHECK(!image.find(true));
    }
    Image image = sound();
    image.set(begin + parent - 12, 1); // a pid
    CHECK(!image.find(true));
    CHECK(image.find(false));
    image = sound();
    image.set_text(begin + comm, "systemd");
    CHECK(!image.find(true));
    image = sound();
    image.set_text(begin + comm + 9, "x");
    CHECK(!image.find(true));
    CHECK(!Image{}.find(true)); // zeros
}

TEST_CASE("only a few of the places that look like init_task are examined", "[tasks]") {
    const auto behind = [](std::size_t decoys) {
        constexpr std::size_t room = 0x4000; // before and after: no task extends beyond
        constexpr std::size_t step = 24;     // the last word is the first one of the next
        Image image = sound();
        std::vector<std::byte> before(2 * room + decoys * step + 4);
        for (std::size_t i = 0; i < decoys; ++i) {
            const std::uint32_t words[] = {address,       address,       address + 108,
                                           address + 108, address + 116, address + 116,
                                           address};
            std::memcpy(&before[room + i * step], words, sizeof words);
        }
        image.bytes.insert(image.bytes.begin(), before.begin(), before.end());
        return image;
    };
    CHECK(behind(63).find(true) == TaskOffsets{comm, parent - 12});
    CHECK(!behind(64).find(true));
    CHECK(!behind(4u << 20).find(true));
}

TEST_CASE("an image may end anywhere", "[tasks]") {
    const Image whole = sound();
    for (std::size_t size = begin + parent - 16; size < begin + comm + 40; ++size) {
        const std::vector<std::byte> cut(whole.bytes.begin(),
                                         whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(find_task_offsets(cut, true).has_value() == (size >= begin + comm + 16));
    }
    // A task that would begin before the image, or whose size is impossible.
    std::vector<std::byte> late(whole.bytes.begin() + begin + 4, whole.bytes.end());
    CHECK(!find_task_offsets(late, true));
    Image far = sound();
    for (std::size_t word : {2, 3, 4, 5}) {
        far.set(begin + parent + 4 * word, 0);
    }
    CHECK(!far.find(true));
}

TEST_CASE("from Linux 5.16 on, the task is in a register", "[tasks]") {
    for (const char* banner :
         {"Linux version 5.16.0-1-armmp (x@y) #1", "Linux version 6.1.0-50-armmp-lpae (a@b)",
          "Linux version 6.12.3", "Linux version 10.0"}) {
        CHECK(symbols::has_task_in_register(banner));
    }
    for (const char* banner : {"", "Linux version ", "Linux version 5.15.9 x",
                               "Linux version 5.10.0", "Linux version 4.19", "Linux version 6",
                               "Linux version 6.", "linux version 6.1", "Linux version x.1"}) {
        CAPTURE(banner);
        CHECK(!symbols::has_task_in_register(banner));
    }
}
