// diff: what one boot did that others did not, and what differs between any two.
#include "../sim/random.hpp"
#include "diff/findings.hpp"
#include "diff/observer.hpp"
#include "diff/profile.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "system/error.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <functional>

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

// A controller with two registers that are described, an interrupt controller, code.
constexpr char head[] = "about kernel.banner=Linux 6.1 #1\n"
                        "device mmc@50000 0x1c050000 0x1000 arm,pl180\n"
                        "device leds@8 0x1c010000 0x1000\n"
                        "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic\n"
                        "device gic@2c001000[1] 0x2c002000 0x1000\n"
                        "code 0xbf000000 0x100 start armmmci\n"
                        "code 0xbf000100 0x100 data armmmci\n"
                        "code 0xc0500000 0x100 copy\n"
                        "code 0xc0500100 0x100 blink\n"
                        "code 0xc0500200 0x100 handle_irq\n";
constexpr std::uint32_t mmc = 0x1c050000, leds = 0x1c010000, gicc = 0x2c002000;
constexpr std::uint32_t start = 0xbf000000, data = 0xbf000100, copy = 0xc0500000,
                        blink = 0xc0500100, handle_irq = 0xc0500200;

std::string path_of(const FileDescriptor& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
}

/// Accesses, one behind the other; of one CPU and one stack until somebody says otherwise.
class Script {
public:
    Script& write(std::uint32_t pc, std::uint32_t address, std::uint64_t value) {
        return add('W', pc, address, value);
    }
    Script& read(std::uint32_t pc, std::uint32_t address, std::uint64_t value) {
        return add('R', pc, address, value);
    }
    Script& on(unsigned cpu, std::uint32_t stack) {
        cpu_ = cpu;
        stack_ = stack;
        return *this;
    }
    std::string text() const { return lines_; }

private:
    Script& add(char direction, std::uint32_t pc, std::uint32_t address, std::uint64_t value) {
        lines_ += fmt::format("{}.{:06} cpu{} {}4 {:#x} {:#x} pc={:#x} sp={:#x} mode=0x13\n",
                              time_ / 1'000'000, time_ % 1'000'000, cpu_, direction, address, value,
                              pc, stack_);
        ++time_;
        return *this;
    }

    std::string lines_;
    std::uint64_t time_ = 0;
    unsigned cpu_ = 0;
    std::uint32_t stack_ = 0xc1602000;
};

/// The boots of a comparison, each a trace file that is read.
class Boots {
public:
    Boots& add(const Script& script, const std::string& before = head,
               filter::Filter* wanted = nullptr) {
        TextTrace trace(before + script.text());
        diff::Boot& boot = boots.emplace_back();
        boot.name = fmt::format("boot {}", boots.size());
        boot.build = trace.reader().text().at("kernel.banner");
        diff::Observer observer(sites, boot, wanted);
        trace.drive(observer);
        return *this;
    }

    std::vector<diff::Finding> findings(diff::Stops stops = diff::Stops::together) const {
        std::vector<const diff::Boot*> all;
        for (const diff::Boot& boot : boots) {
            all.push_back(&boot);
        }
        const diff::Alike alike = diff::alike(sites, all);
        return diff::findings(alike, diff::changes(alike), sites, stops);
    }

    diff::Sites sites;
    std::vector<diff::Boot> boots;
};

/// A line for each.
std::string text_of(const std::vector<diff::Finding>& findings) {
    std::string text;
    for (const diff::Finding& finding : findings) {
        text += fmt::format("{}: {} {} ({}): {}\n", diff::tier_text(finding.tier), finding.device,
                            finding.reg, finding.function, finding.difference);
    }
    return text;
}

using Make = std::function<void(Script&)>;

/// What is found of `other`, where `goods` boots did as `good`.
std::string found(const Make& good, const Make& other, unsigned goods = 1,
                  diff::Stops stops = diff::Stops::together) {
    Boots boots;
    for (unsigned i = 0; i <= goods; ++i) {
        Script script;
        (i < goods ? good : other)(script);
        boots.add(script);
    }
    return text_of(boots.findings(stops));
}

/// The driver starts the card, and three transfers.
void driver(Script& to, std::uint64_t clock = 0x100, std::uint64_t timer = 0x124f80) {
    to.write(start + 0x10, mmc, 0x3).write(start + 0x20, mmc + 0x4, clock);
    to.write(start + 0x30, mmc + 0x3c, 0x2ff);
    for (int i = 0; i < 3; ++i) {
        to.write(data + 0x10, mmc + 0x24, timer).write(data + 0x20, mmc + 0x28, 512);
        to.write(data + 0x30, mmc + 0x2c, 0x93).read(data + 0x40, mmc + 0x34, 0x400);
    }
}
void usual(Script& to) {
    driver(to);
}

} // namespace

TEST_CASE("boots that did the same compare equal") {
    CHECK(found(usual, usual) == "");
    CHECK(found(usual, usual, 5) == "");
    CHECK(diff::verdict({}) == "same");
}

TEST_CASE("a changed value that a driver writes is a finding") {
    CHECK(found(usual, [](Script& to) { driver(to, 0x101, 0x9c40); }) ==
          "sure: mmc@50000 Clock (start [armmmci]): 0x100 -> 0x101 (ClkDiv 0x0 -> 0x1), once\n"
          "sure: mmc@50000 DataTimer (data [armmmci]): 0x124f80 -> 0x9c40, 3 times\n");
}

TEST_CASE("a value that only one side writes is reported for that side") {
    const Make more = [](Script& to) {
        driver(to);
        to.write(start + 0x20, mmc + 0x4, 0x300);
    };
    CHECK_THAT(found(usual, more),
               Contains("Clock (start [armmmci]): 0x300") && Contains("only in B"));
    CHECK_THAT(found(more, usual),
               Contains("Clock (start [armmmci]): 0x300") && Contains("only in A"));
}

TEST_CASE("a site that no longer writes, or a new one, is a finding") {
    const Make without = [](Script& to) {
        to.write(start + 0x10, mmc, 0x3).write(start + 0x30, mmc + 0x3c, 0x2ff);
        for (int i = 0; i < 3; ++i) {
            to.write(data + 0x10, mmc + 0x24, 0x124f80).write(data + 0x20, mmc + 0x28, 512);
            to.write(data + 0x30, mmc + 0x2c, 0x93).read(data + 0x40, mmc + 0x34, 0x400);
        }
    };
    for (const unsigned goods : {1u, 3u}) {
        CHECK_THAT(found(usual, without, goods),
                   Contains("sure: mmc@50000 Clock (start [armmmci]): 0x100") &&
                       Contains("only in A"));
        CHECK_THAT(found(without, usual, goods),
                   Contains("sure: mmc@50000 Clock (start [armmmci]): 0x100") &&
                       Contains("only in B"));
    }
}

TEST_CASE("a write that goes to another register is one finding") {
    const auto to_register = [](std::uint32_t offset) {
        return [offset](Script& to) {
            driver(to);
            to.write(start + 0x40, mmc + offset, 0x77);
        };
    };
    CHECK(found(to_register(0x40), to_register(0x38)) ==
          "sure: mmc@50000 Mask1, Clear (start [armmmci]): 0x77 goes to Clear instead of Mask1, "
          "once\n");
}

TEST_CASE("two swapped writes are found, within a function from one good boot") {
    const Make swapped = [](Script& to) {
        to.write(start + 0x10, mmc, 0x3).write(start + 0x20, mmc + 0x4, 0x100);
        to.write(start + 0x30, mmc + 0x3c, 0x2ff);
        for (int i = 0; i < 3; ++i) {
            to.write(data + 0x20, mmc + 0x28, 512).write(data + 0x10, mmc + 0x24, 0x124f80);
            to.write(data + 0x30, mmc + 0x2c, 0x93).read(data + 0x40, mmc + 0x34, 0x400);
        }
    };
    for (const unsigned goods : {1u, 3u}) {
        const std::string text = found(usual, swapped, goods);
        CHECK_THAT(text, Contains("less sure: mmc@50000") && Contains("DataTimer") &&
                             Contains("DataLength") && Contains("is followed by"));
        CHECK_THAT(text, StartsWith("less sure"));
        CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    }
}

TEST_CASE("two swapped writes with nothing around them are found") {
    const auto pair = [](bool swapped) {
        return [swapped](Script& to) {
            to.write(start + (swapped ? 0x14 : 0x10), mmc + (swapped ? 0x28 : 0x24), 1);
            to.write(start + (swapped ? 0x10 : 0x14), mmc + (swapped ? 0x24 : 0x28), 1);
        };
    };
    CHECK_THAT(found(pair(false), pair(true), 3),
               StartsWith("less sure: mmc@50000 DataTimer, DataLength"));
}

TEST_CASE("writes of two functions that exchange their places are found") {
    const auto pair = [](bool swapped) {
        return [swapped](Script& to) {
            to.write(swapped ? data : start, mmc + (swapped ? 0x28 : 0x24), 1);
            to.write(swapped ? start : data, mmc + (swapped ? 0x24 : 0x28), 1);
        };
    };
    CHECK(found(pair(false), pair(true), 3) ==
          "less sure: mmc@50000 DataTimer, DataLength (start [armmmci], data [armmmci]): "
          "DataTimer=0x1 is followed by DataLength=0x1 in A, by nothing else in B\n");
    CHECK(found(pair(false), pair(true), 2) == ""); // two boots may be alike by chance
}

TEST_CASE("a write that is done less often is found if good boots always do it equally often") {
    const auto times = [](int count) {
        return [count](Script& to) {
            driver(to);
            for (int i = 0; i < count; ++i) {
                to.write(start + 0x50, mmc + 0x38, 0x7ff).write(start + 0x54, mmc + 0x38, 0);
            }
        };
    };
    CHECK_THAT(found(times(5), times(4), 3),
               Contains("less sure: mmc@50000 Clear (start [armmmci]): Clear=0x7ff 5 -> 4 times, "
                        "Clear=0x0 5 -> 4 times"));
    CHECK(found(times(5), times(4), 2) == ""); // two boots may be alike by chance
    Boots varying;
    for (const int count : {5, 6, 5, 4}) {
        Script script;
        times(count)(script);
        varying.add(script);
    }
    CHECK(text_of(varying.findings()) == "");
}

TEST_CASE("a register that always read as one value, and now reads as another, is a finding") {
    const auto id = [](std::uint64_t value) {
        return [value](Script& to) { to.read(start + 0x10, mmc + 0xfe0, value); };
    };
    CHECK_THAT(found(id(0x80), id(0x81), 3),
               Contains("less sure: mmc@50000 PeriphID0 (start [armmmci]): "
                        "0x80 -> 0x81"));
    CHECK(found(id(0x80), id(0x81), 2) == "");
}

TEST_CASE("bits that are read from a register and written back are not blamed on the driver") {
    const auto configure = [](std::uint64_t gave, std::uint64_t wrote) {
        return [=](Script& to) {
            driver(to);
            to.read(start + 0x50, mmc + 0x48, gave).write(start + 0x54, mmc + 0x48, wrote);
        };
    };
    for (const unsigned goods : {1u, 3u}) {
        const std::string text = found(configure(0x101, 0x1), configure(0x1101, 0x1001), goods);
        CHECK_THAT(text,
                   Contains("less sure: mmc@50000 FifoCnt (start [armmmci]): 0x1 -> 0x1001") &&
                       Contains("as the register gave"));
        CHECK_THAT(text, !Contains("\nsure") && !StartsWith("sure"));
        CHECK_THAT(found(configure(0x101, 0x1), configure(0x101, 0x1001), goods),
                   StartsWith("sure: mmc@50000 FifoCnt"));
    }
    const auto twice = [&](std::uint64_t gave, std::uint64_t wrote) {
        return [=](Script& to) {
            configure(gave, wrote)(to);
            to.write(start + 0x58, mmc + 0x48, wrote);
        };
    };
    CHECK_THAT(found(twice(0x101, 0x1), twice(0x1101, 0x1001)), StartsWith("less sure"));
}

TEST_CASE("two parts of a driver may change a register in either order") {
    const auto change = [](Script& to, std::uint32_t place, std::uint64_t gave,
                           std::uint64_t wrote) {
        to.read(start + place, mmc + 0x48, gave).write(start + place + 4, mmc + 0x48, wrote);
    };
    const auto boot = [&](std::uint64_t first, std::uint64_t second) {
        return [=](Script& to) {
            driver(to);
            change(to, 0x50, 0x10, 0x10 | first);
            change(to, 0x50, 0x10 | first, 0x10 | first | second);
        };
    };
    for (const unsigned goods : {1u, 3u}) {
        CHECK_THAT(found(boot(0x100, 0x2000), boot(0x2000, 0x100), goods), StartsWith("less sure"));
        CHECK_THAT(found(boot(0x100, 0x2000), boot(0x4000, 0x100), goods), StartsWith("sure"));
    }
}

TEST_CASE("a command is no change of what its register gave") {
    // Each command sets bit 31, which is 0 when the device is ready, and names another register.
    const auto boot = [](std::initializer_list<std::uint64_t> registers, unsigned polls) {
        return [=](Script& to) {
            driver(to);
            std::uint64_t gave = 0;
            for (const std::uint64_t reg : registers) {
                to.read(start + 0x50, mmc + 0x48, gave);
                to.write(start + 0x54, mmc + 0x48, 0xc000'0000 | reg).read(start, mmc + 0x30, 0);
                for (unsigned i = 1; i < polls; ++i) {
                    to.read(start + 0x58, mmc + 0x48, 0xc000'0000 | reg);
                }
                gave = 0x4000'0000 | reg;
                to.read(start + 0x58, mmc + 0x48, gave).read(start + 0x5c, mmc + 0x4c, reg);
            }
        };
    };
    for (const unsigned polls : {1u, 3u}) {
        CHECK_THAT(found(boot({2, 6, 7}, polls), boot({2, 3, 6, 7}, polls)),
                   StartsWith("sure: mmc@50000 FifoCnt (start [armmmci]): 0xc0000003 "));
        CHECK_THAT(found(boot({2, 3, 6, 7}, polls), boot({2, 6, 7}, polls), 3),
                   StartsWith("sure: mmc@50000 FifoCnt (start [armmmci]): 0xc0000003 "));
    }
}

TEST_CASE("a register behind an index may give something else than was written there") {
    // Index 1 and 2: two registers behind one of data; the second one is read, changed, written.
    const auto boot = [](std::uint64_t second) {
        return [=](Script& to) {
            driver(to);
            to.write(start + 0x50, mmc + 0x48, 1).write(start + 0x54, mmc + 0x4c, 0xffff);
            to.write(start + 0x58, mmc + 0x48, 2).read(start + 0x5c, mmc + 0x4c, second);
            to.write(start + 0x60, mmc + 0x4c, second | 0x4);
        };
    };
    CHECK_THAT(found(boot(0x2008), boot(0x102008)), StartsWith("less sure"));
}

TEST_CASE("a value that a register gives because it was written before is the driver's") {
    const auto boot = [](std::uint64_t mask) {
        return [mask](Script& to) {
            to.write(start + 0x30, mmc + 0x3c, mask).read(data + 0x40, mmc + 0x3c, mask);
        };
    };
    CHECK(found(boot(0x2ff), boot(0x3ff), 3)
              .starts_with("sure: mmc@50000 Mask0 (start [armmmci]): 0x2ff -> 0x3ff"));
}

TEST_CASE("data is compared bit by bit") {
    const auto blocks = [](std::uint64_t bits) {
        return [bits](Script& to) {
            driver(to);
            for (std::uint64_t i = 0; i < 100; ++i) {
                to.write(copy + 0x10, mmc + 0x80, i * 7 % 256 | (i == 50 ? bits : 0));
            }
        };
    };
    CHECK(found(blocks(0), [](Script& to) {
              driver(to);
              for (std::uint64_t i = 0; i < 90; ++i) {
                  to.write(copy + 0x10, mmc + 0x80, i * 11 % 256);
              }
          }) == "");
    CHECK_THAT(found(blocks(0), blocks(0x8000)),
               Contains("FIFO0 (copy): bits 0x8000 are 1 only in B"));
}

namespace {

/// Packets: a head, a number that differs each time, and three words that do not.
struct Packets {
    int changed = -1;        ///< this packet's second last word is another
    bool swapped = false;    ///< the head comes second
    std::size_t dropped = 9; ///< this word of packet 3 is missing
    std::uint64_t seed = 0;

    void operator()(Script& to) const {
        driver(to);
        for (int i = 0; i < 40; ++i) {
            std::vector<std::uint64_t> words{0x3002a,
                                             (seed * 7 + static_cast<std::uint64_t>(i) * 11) % 128,
                                             0x8, i == changed ? 0x18u : 0x10u, 0x20};
            if (swapped) {
                std::swap(words[0], words[2]);
            }
            if (i == 3 && dropped < words.size()) {
                words.erase(words.begin() + static_cast<std::ptrdiff_t>(dropped));
            }
            for (std::size_t at = 0; at < words.size(); ++at) {
                to.write(copy + 0x10 + static_cast<std::uint32_t>(4 * at), mmc + 0x80, words[at]);
            }
            to.read(data + 0x40, mmc + 0x34, 0x400);
        }
    }
};

std::string found_of_packets(const Packets& good, const Packets& other, unsigned goods = 3) {
    Boots boots;
    for (unsigned i = 0; i <= goods; ++i) {
        Packets of = i < goods ? good : other;
        of.seed = i;
        Script script;
        of(script);
        boots.add(script);
    }
    return text_of(boots.findings());
}

} // namespace

TEST_CASE("a word of a burst that never differs is compared, and so is the length of bursts") {
    const Packets usual_ones;
    CHECK(found_of_packets(usual_ones, usual_ones) == "");
    Packets changed;
    changed.changed = 7;
    CHECK(found_of_packets(usual_ones, changed) ==
          "less sure: mmc@50000 FIFO0 (copy): write 4 of 5 is always 0x10 in A, bits 0x8 are 1 in "
          "B\n");
    CHECK(found_of_packets(usual_ones, changed, 2) == ""); // too few to tell what never differs
    Packets shorter;
    shorter.dropped = 2;
    CHECK_THAT(found_of_packets(usual_ones, shorter),
               Contains("less sure: mmc@50000 FIFO0 (copy): bursts of 4 writes only in B"));
    Packets swapped;
    swapped.swapped = true;
    CHECK_THAT(found_of_packets(usual_ones, swapped),
               Contains("write 1 of 5 is always 0x3002a in A, bits 0x30022 are 0 in B and 1 more"));
}

TEST_CASE("a burst that good boots make only once may be another one the next time") {
    const auto with_one = [](std::uint64_t word) {
        return [word](Script& to) {
            Packets()(to);
            for (std::uint64_t i = 0; i < 7; ++i) {
                to.write(copy + 0x10, mmc + 0x80, i == 5 ? word : 0);
            }
            to.read(data + 0x40, mmc + 0x34, 0x400);
        };
    };
    CHECK(found(with_one(0x10), with_one(0x8), 3) == "");
    CHECK_THAT(found(with_one(0x10), Packets(), 3), !Contains("burst"));
}

TEST_CASE("an unrolled copy is one site") {
    const auto copied = [](std::uint32_t places) {
        return [places](Script& to) {
            driver(to);
            for (std::uint32_t i = 0; i < 8; ++i) {
                to.write(copy + 0x10 + i % places * 4, mmc + 0x80, i & 1);
            }
        };
    };
    CHECK(found(copied(4), copied(3)) == ""); // the last place was not used
    CHECK(found(copied(2), copied(1)) != ""); // two places are no loop
}

TEST_CASE("LEDs are compared one by one") {
    const auto blinks = [](std::initializer_list<std::uint64_t> values) {
        return [values = std::vector<std::uint64_t>(values)](Script& to) {
            for (const std::uint64_t value : values) {
                to.write(blink + 0x10, leds, value);
            }
        };
    };
    const Make some = blinks({0x1, 0x3, 0x2, 0x0, 0x4, 0x6, 0x4});
    CHECK(found(some, blinks({0x1, 0x5, 0x4, 0x6, 0x7, 0x5})) == "");
    CHECK_THAT(found(some, blinks({0x1, 0x3, 0x2, 0x0, 0x4, 0xc, 0x4})),
               Contains("leds@8 +0x000 (blink): bits 0x8 are 1 only in B"));
    // Several bits at once are values.
    CHECK(found(blinks({0x1, 0x2, 0x4, 0x7, 0x0, 0x3}), blinks({0x1, 0x2, 0x4, 0x6, 0x0, 0x3})) !=
          "");
}

TEST_CASE("a value that only one good boot has shows that others may come") {
    Boots boots;
    for (const std::uint64_t value : {0x10, 0x10, 0x11, 0x12}) {
        Script script;
        usual(script);
        boots.add(
            script.write(start + 0x60, mmc + 0x8, value).write(start + 0x60, mmc + 0x8, 0x13));
    }
    CHECK(text_of(boots.findings()) == "");
    CHECK(found([](Script& to) { to.write(start + 0x60, mmc + 0x8, 0x10); },
                [](Script& to) { to.write(start + 0x60, mmc + 0x8, 0x12); }, 3) != "");
}

TEST_CASE("a new value at a site where values vary is not a change of order") {
    const auto boot = [](std::initializer_list<std::uint64_t> values) {
        return [values = std::vector<std::uint64_t>(values)](Script& to) {
            for (const std::uint64_t value : values) {
                to.write(start + 0x10, mmc, 1).write(start + 0x60, mmc + 0x8, value);
            }
        };
    };
    Boots boots;
    for (const auto& make : {boot({0x10}), boot({0x10, 0x20}), boot({0x30, 0x10})}) {
        Script script;
        make(script);
        boots.add(script);
    }
    boots.boots[1].pairs = boots.boots[0].pairs; // as if 0x20 had come in another thread
    CHECK(text_of(boots.findings()) == "");
}

TEST_CASE(
    "accesses of other functions in between are no difference unless they replace something") {
    const auto boot = [](bool again, bool instead) {
        return [=](Script& to) {
            to.write(start + 0x10, mmc, 1).write(data + 0x10, mmc + 0x24, 2);
            to.write(copy + 0x10, mmc + 0x28, 3);
            to.write(start + 0x10, mmc, 1)
                .write(again ? data + 0x10 : copy + 0x10, mmc + (again ? 0x24u : 0x28u),
                       again ? 2 : 3);
            if (instead) {
                to.write(copy + 0x10, mmc + 0x28, 3);
            }
        };
    };
    CHECK(found(boot(true, true), boot(false, false), 2) == "");
    const auto only = [](bool swapped) {
        return [=](Script& to) {
            to.write(start + 0x10, mmc, 1);
            to.write((swapped ? copy : data) + 0x10, mmc + (swapped ? 0x28u : 0x24u), 2);
            to.write((swapped ? data : copy) + 0x10, mmc + (swapped ? 0x24u : 0x28u), 2);
        };
    };
    CHECK_THAT(found(only(false), only(true), 2), StartsWith("less sure: mmc@50000 Power"));
}

TEST_CASE("one cause is reported once") {
    const auto transfers = [](int without) {
        return [without](Script& to) {
            for (int i = 0; i < 5; ++i) {
                to.write(data + 0x10, mmc + 0x24, 0x124f80);
                if (i != without) {
                    to.write(data + 0x20, mmc + 0x28, 512);
                }
                to.write(data + 0x30, mmc + 0x2c, 0x93);
            }
        };
    };
    CHECK(found(transfers(-1), transfers(2), 3) ==
          "less sure: mmc@50000 DataLength (data [armmmci]): DataLength=0x200 5 -> 4 times\n");
    CHECK(found(
              usual, [](Script& to) { driver(to, 0x100, 0x9c40); }, 3) ==
          "sure: mmc@50000 DataTimer (data [armmmci]): 0x124f80 -> 0x9c40, 3 times\n");
}

TEST_CASE("tasks may alternate without a difference") {
    const auto boot = [](bool in_turns) {
        return [in_turns](Script& to) {
            constexpr std::uint32_t one = 0xc1602000, other = 0xc1606000;
            to.on(0, one).write(start + 0x10, mmc, 3).write(start + 0x20, mmc + 0x4, 0x100);
            if (!in_turns) {
                to.write(start + 0x30, mmc + 0x3c, 0x2ff);
            }
            to.on(0, other).write(start + 0x40, mmc + 0x40, 1).write(start + 0x50, mmc + 0x44, 2);
            if (in_turns) {
                to.on(0, one).write(start + 0x30, mmc + 0x3c, 0x2ff);
            }
        };
    };
    for (const unsigned goods : {1u, 3u}) {
        CHECK(found(boot(false), boot(true), goods) == "");
    }
}

TEST_CASE("the place in a function from which a register is read makes no difference") {
    const auto boot = [](std::uint32_t place) {
        return [place](Script& to) {
            driver(to);
            to.read(start + place, mmc + 0x34, 0);
        };
    };
    CHECK(found(boot(0x60), boot(0x64)) == "");
}

TEST_CASE("everything written to a data register is data") {
    const auto boot = [](std::uint64_t first) {
        return [first](Script& to) {
            driver(to);
            for (std::uint64_t i = 0; i < 100; ++i) {
                to.write(copy + 0x10, mmc + 0x80, i * 7);
            }
            to.write(blink + 0x10, mmc + 0x80, first)
                .write(blink + 0x10, mmc + 0x80, ~first & 0xfff);
        };
    };
    CHECK(found(boot(0x12), boot(0x456)) == "");
}

TEST_CASE("different polls, CPUs and times of interrupts are no difference") {
    const auto boot = [](unsigned cpu, int polls, bool early) {
        return [=](Script& to) {
            to.on(cpu, 0xc1602000);
            const auto interrupt = [&] {
                to.on(cpu, 0xc2000000);
                to.read(handle_irq + 0x10, gicc + 0xc, 41).write(data + 0x80, mmc + 0x38, 0x40);
                to.write(handle_irq + 0x20, gicc + 0x10, 41).on(cpu, 0xc1602000);
            };
            to.write(start + 0x10, mmc, 0x3);
            if (early) {
                interrupt();
            }
            to.write(start + 0x20, mmc + 0x4, 0x100);
            for (int i = 0; i < polls; ++i) {
                to.read(start + 0x24, mmc + 0x34, static_cast<std::uint64_t>(i));
            }
            if (!early) {
                interrupt();
            }
            to.write(start + 0x30, mmc + 0x3c, 0x2ff);
        };
    };
    for (const unsigned goods : {1u, 3u}) {
        CHECK(found(boot(0, 3, true), boot(1, 40, false), goods) == "");
    }
}

TEST_CASE("an interrupt is separated from the code that it interrupts, even on the same stack") {
    // Without the GIC's accesses the write in the interrupt stands between two others.
    const auto boot = [](bool early, bool traced) {
        return [=](Script& to) {
            const auto interrupt = [&] {
                if (traced) {
                    to.read(handle_irq + 0x10, gicc + 0xc, 41);
                }
                to.write(start + 0x80, mmc + 0x38, 0x40);
                if (traced) {
                    to.write(handle_irq + 0x20, gicc + 0x10, 41);
                }
            };
            to.write(start + 0x10, mmc, 0x3);
            if (early) {
                interrupt();
            }
            to.write(start + 0x20, mmc + 0x4, 0x100);
            if (!early) {
                interrupt();
            }
            to.write(start + 0x30, mmc + 0x3c, 0x2ff);
        };
    };
    CHECK(found(boot(true, true), boot(false, true), 3) == "");
    CHECK_THAT(found(boot(true, false), boot(false, false), 3), Contains("less sure"));
}

TEST_CASE("interrupts of devices are compared, interrupts between CPUs are not") {
    const auto boot = [](std::uint64_t number) {
        return [number](Script& to) {
            to.read(handle_irq + 0x10, gicc + 0xc, 41).write(handle_irq + 0x20, gicc + 0x10, 41);
            to.read(handle_irq + 0x10, gicc + 0xc, number);
            to.write(handle_irq + 0x20, gicc + 0x10, number);
        };
    };
    CHECK(found(boot(3), boot(4)) == "");
    CHECK_THAT(found(boot(3), boot(47)), Contains("GICC_EOIR") && Contains("0x2f"));
}

TEST_CASE("a device, a module or a function that only one side has is one finding") {
    const Make nothing = [](Script& to) { to.write(blink + 0x10, leds, 1); };
    const Make all = [](Script& to) {
        to.write(blink + 0x10, leds, 1);
        driver(to);
    };
    CHECK(found(all, nothing) ==
          "sure: mmc@50000 Power, Clock, Mask0, DataTimer and 3 more (start [armmmci], data "
          "[armmmci]): the device only in A: 15 accesses\n");
    const Make other_driver = [](Script& to) {
        to.write(blink + 0x10, leds, 1).write(copy + 0x10, mmc, 0x3);
    };
    CHECK_THAT(found(other_driver,
                     [&](Script& to) {
                         other_driver(to);
                         driver(to);
                     }),
               Contains("the module only in B: 15 accesses"));
    CHECK_THAT(found(usual,
                     [](Script& to) {
                         to.write(start + 0x10, mmc, 0x3).write(start + 0x20, mmc + 0x4, 0x100);
                         to.write(start + 0x30, mmc + 0x3c, 0x2ff);
                     }),
               Contains("the function only in A: 12 accesses"));
}

namespace {

/// A boot whose driver may fail to start, and another driver in a thread of its own.
struct Stopping {
    std::uint64_t clock = 0x100, mask = 0x2ff, led = 5;
    bool starts = true;
    bool ends = true; ///< it does something behind the driver

    void operator()(Script& to) const {
        to.on(0, 0xc1602000).write(start + 0x10, mmc, 0x3).write(start + 0x20, mmc + 0x4, clock);
        to.write(start + 0x30, mmc + 0x3c, mask);
        to.read(handle_irq + 0x10, gicc + 0xc, 40).write(handle_irq + 0x20, gicc + 0x10, 40);
        if (starts) {
            to.read(handle_irq + 0x10, gicc + 0xc, 41).write(data + 0x40, mmc + 0x38, 0x40);
            to.write(handle_irq + 0x20, gicc + 0x10, 41);
            to.write(data + 0x10, mmc + 0x24, 0x124f80).write(data + 0x20, mmc + 0x28, 512);
            to.write(blink + 0x10, leds, 1); // the driver switches it on
            to.write(start + 0x40, mmc + 0x2c, 0x93).read(copy + 0x10, mmc + 0x80, 0x1234);
        } else {
            to.write(start + 0x60, mmc, 0); // off
        }
        to.on(1, 0xc1604000);
        if (ends) {
            to.write(blink + 0x20, leds + 0x8, led).write(blink + 0x30, leds + 0xc, 7);
        }
    }
};

} // namespace

TEST_CASE("what a driver no longer does after it has stopped is one finding, behind the cause") {
    const Make stopped = Stopping{.clock = 0x101, .starts = false};
    for (const unsigned goods : {1u, 3u}) {
        CHECK(found(Stopping(), stopped, goods) ==
              "sure: mmc@50000 Clock (start [armmmci]): 0x100 -> 0x101 (ClkDiv 0x0 -> 0x1), once\n"
              "sure: mmc@50000, gic@2c001000[1], leds@8 Power, Clear, DataTimer, DataLength and 4 "
              "more (start [armmmci], data [armmmci], handle_irq, blink and 1 more): mmc@50000 "
              "stops: "
              "of 7 accesses and values that are new from here on, 6 are only in A; --all lists "
              "these 6 findings\n");
        const std::string all = found(Stopping(), stopped, goods, diff::Stops::apart);
        CHECK(std::count(all.begin(), all.end(), '\n') == 7);
        CHECK_THAT(all,
                   Contains("gic@2c001000[1] GICC_EOIR (handle_irq): 0x29") &&
                       Contains("leds@8 +0x000 (blink): 0x1 only in A") &&
                       Contains("mmc@50000 Power (start [armmmci]): 0x0 (Ctrl=off) only in B"));
    }
}

TEST_CASE("a stop hides no change of another driver, and none of what is still done") {
    const std::string text =
        found(Stopping(), Stopping{.clock = 0x101, .mask = 0x2fe, .led = 6, .starts = false}, 3);
    CHECK(std::count(text.begin(), text.end(), '\n') == 4);
    CHECK_THAT(text, StartsWith("sure: mmc@50000 Clock") &&
                         Contains("Mask0 (start [armmmci]): 0x2ff -> 0x2fe") &&
                         Contains("mmc@50000 stops") &&
                         Contains("leds@8 +0x008 (blink): 0x5 -> 0x6"));
}

TEST_CASE("what is missing behind the end of a boot follows from the stop before it") {
    const std::string text =
        found(Stopping(), Stopping{.clock = 0x101, .starts = false, .ends = false}, 3);
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK_THAT(text, StartsWith("sure: mmc@50000 Clock") && Contains("mmc@50000 stops"));
}

TEST_CASE("accesses that a driver leaves out and goes on are findings of their own") {
    const Make without = [](Script& to) {
        to.write(start + 0x10, mmc, 0x3);
        for (int i = 0; i < 3; ++i) {
            to.write(data + 0x10, mmc + 0x24, 0x124f80).write(data + 0x30, mmc + 0x2c, 0x93);
            to.read(data + 0x40, mmc + 0x34, 0x400);
        }
    };
    const std::string text = found(usual, without, 3);
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    CHECK_THAT(text, Contains("Clock") && Contains("Mask0") && Contains("DataLength") &&
                         !Contains("stops"));
}

TEST_CASE("functions of different builds are matched by name, and may be inlined") {
    std::string other_head = head;
    other_head.replace(other_head.find("6.1"), 3, "6.2");
    const auto compared = [&](const Make& make) {
        Script good, other;
        driver(good);
        make(other);
        Boots boots;
        boots.add(good).add(other, other_head);
        return text_of(boots.findings());
    };
    const Make moved = [](Script& to) {
        to.write(start + 0x18, mmc, 0x3).write(start + 0x28, mmc + 0x4, 0x100);
        to.write(copy + 0x30, mmc + 0x3c, 0x2ff); // was inlined
        for (int i = 0; i < 3; ++i) {
            to.write(data + 0x14, mmc + 0x24, 0x124f80).write(data + 0x24, mmc + 0x28, 512);
            to.write(data + 0x34, mmc + 0x2c, 0x93).read(data + 0x44, mmc + 0x34, 0x400);
        }
    };
    CHECK(compared(moved) == "");
    CHECK(found(usual, moved) != "");
    CHECK_THAT(compared([](Script& to) { driver(to, 0x101); }), Contains("0x100 -> 0x101"));
}

TEST_CASE("a rebuilt function is compared by its name") {
    const Make anew = [](Script& to) {
        to.write(start + 0x10, mmc, 0x3).write(start + 0x20, mmc + 0x4, 0x100);
        to.write(start + 0x30, mmc + 0x3c, 0x2ff);
        for (int i = 0; i < 3; ++i) {
            to.write(data + 0x18, mmc + 0x24, 0x124f80).write(data + 0x28, mmc + 0x28, 512);
            to.write(data + 0x38, mmc + 0x2c, 0x93).read(data + 0x48, mmc + 0x34, 0x400);
        }
    };
    CHECK(found(usual, anew) == "");
}

TEST_CASE("only the requested devices are compared, with all interrupts") {
    filter::Filter wanted("dev==\"leds@8\""), wanted_again("dev==\"leds@8\"");
    Boots boots;
    Script one, other;
    one.write(blink + 0x10, leds, 1);
    driver(one);
    driver(other, 0x101);
    other.write(blink + 0x10, leds, 2);
    boots.add(one, head, &wanted).add(other, head, &wanted_again);
    const std::string text = text_of(boots.findings());
    CHECK_THAT(text, Contains("leds@8") && !Contains("mmc"));
    CHECK(boots.boots[0].accesses == 1);
}

TEST_CASE("memory grows with the distinct accesses, not with the events") {
    Script script;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        script.write(copy + 0x10, mmc + 0x80, i).write(blink + 0x10, mmc + 0x84, i % 7);
    }
    Boots boots;
    boots.add(script);
    const diff::Boot& boot = boots.boots.front();
    CHECK(boot.accesses == 40'000);
    CHECK(boot.left_out == 0);
    CHECK(boot.uses.size() == 2);
    CHECK(boot.uses[0].values.size() == diff::Use::most_values);
    CHECK(boot.uses[0].many);
    CHECK(boot.pairs.size() < 2 * 33 * 8);
}

TEST_CASE("accesses of sites beyond the limit are counted as left out") {
    diff::Sites sites;
    diff::Site site;
    for (std::uint32_t i = 0; i < diff::Sites::most; ++i) {
        site.place = i;
        REQUIRE(sites.number_of(site) == i);
    }
    site.place = diff::Sites::most;
    CHECK(sites.number_of(site) == diff::Sites::none);
    Script script;
    script.write(start + 0x10, mmc, 0x3);
    Boots boots;
    boots.sites = std::move(sites);
    boots.add(script);
    CHECK(boots.boots.front().left_out == 1);
}

namespace {

/// A file with `text`, as long as this is.
struct ProfileFile {
    explicit ProfileFile(const std::string& text) : file(memory_file("profile", 0)) {
        append(file.get(), std::as_bytes(std::span(text)), "profile");
    }
    std::vector<diff::Boot> read(diff::Sites& sites) const {
        diff::Pairing devices;
        return diff::read_profile(path_of(file), sites, devices);
    }
    FileDescriptor file;
};

} // namespace

TEST_CASE("a profile has everything learned from good boots") {
    const auto make = [](Boots& boots, std::uint64_t clock) {
        Script script;
        driver(script, clock);
        script.write(start + 0x50, mmc + 0x48, 0x8000'0001).read(start + 0x54, mmc + 0x48, 1);
        for (std::uint64_t i = 0; i < 50; ++i) {
            script.write(copy + 0x10, mmc + 0x80, i);
        }
        boots.add(script);
    };
    Boots direct, kept;
    for (int i = 0; i < 3; ++i) {
        make(direct, 0x100);
    }
    direct.boots[1].name = "name with % and\n";
    const std::string text = diff::profile_text(direct.boots, direct.sites, {});
    CHECK_THAT(text, Contains(" 2147483648\n")); // the bit that is not kept
    kept.boots = ProfileFile(text).read(kept.sites);
    CHECK(diff::profile_text(kept.boots, kept.sites, {}) == text);
    CHECK(kept.boots[1].name == direct.boots[1].name);
    make(direct, 0x101);
    make(kept, 0x101);
    CHECK(text_of(direct.findings()) == text_of(kept.findings()));
    CHECK_THAT(text_of(kept.findings()), Contains("0x100 -> 0x101"));
}

TEST_CASE("a file that is not a valid profile is refused, wherever it is wrong") {
    Boots boots;
    Script script;
    driver(script);
    boots.add(script);
    const std::string good = diff::profile_text(boots.boots, boots.sites, {});
    const auto refuses = [](const std::string& text, const std::string& why) {
        diff::Sites sites;
        CHECK_THROWS_WITH(ProfileFile(text).read(sites), Contains(why));
    };
    refuses("", "cut off");
    refuses("something else\n", ":1: this is no line of a profile");
    refuses(good.substr(0, good.size() - 4), "cut off");
    const std::string first = "mmioscope-diff-profile 4\n";
    const std::string site = "site 1 0 4 0 0 d r f\n";
    refuses(first + "pair 0 0 0 0 1\n", ":2:");
    refuses(first + "value 1 1 1 0\n", ":2:");
    refuses(first + site + site, ":3:");
    refuses(first + "site 1 0 4 0 0 d r %zz\n", ":2:");
    refuses(first + "site 1 0 4 0 0 d r\n", ":2:");
    refuses(first + "site 1 0 4 -1 0 d r f\n", ":2:");
    refuses(first + site + "boot 1 0 n b\nuse 1 1 1 65536 0 0 0 0 0\n", ":4:");
    refuses(first + site + "boot 1 0 n b\nuse 0 1 1 65536 0 0 0 0 0\nuse 0 1 1 65536 0 0 0 0 0\n",
            ":5:");
    refuses(first + site + "boot 1 0 n b\nuse 0 1 1 65536 0 0 0 0 0\npair 0 0 0 32 1\n", ":5:");
    refuses(first + site + "boot 1 0 n b\npair 0 32 0 32 1\n", ":4:");
    refuses(first + site + "boot 1 0 n b\nuse 0 1 1 1 0 0 0 0 0\n", ":4:");
    refuses(first + site + "boot 1 0 n b more\n", ":3:");
    std::string many = first + site;
    for (int i = 0; i <= 100; ++i) {
        many += "boot 1 0 n b\n";
    }
    refuses(many, ":103:");
}

TEST_CASE("a profile with any byte changed is refused or read") {
    Boots boots;
    Script script;
    driver(script);
    boots.add(script);
    const std::string good = diff::profile_text(boots.boots, boots.sites, {});
    constexpr std::string_view others("09 \n%\0", 6);
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (std::size_t which = 0; which < others.size(); ++which) {
            const char other = others[which];
            if (sim::seeds(1) == 1 && i % others.size() != which) {
                continue;
            }
            std::string text = good;
            text[i] = other;
            Boots changed;
            try {
                changed.boots = ProfileFile(text).read(changed.sites);
                changed.boots.push_back(changed.boots.front());
                changed.findings();
            } catch (const Error& error) {
                CHECK(error.status() == Status::bad_input);
            }
        }
    }
}

TEST_CASE("an HTML page shows both sides and escapes the guest's names") {
    diff::Finding finding;
    finding.device = "<script>alert(1)</script>";
    finding.reg = "\"><img src=x>";
    finding.function = "f\x1b[31m";
    finding.difference = "0x1 -> 0x2 & more";
    finding.a.lines = {"0x1, once"};
    finding.a.event = 7;
    const std::string page =
        diff::html(std::span(&finding, 1), {{"a<b>.mmio"}, "b.mmio", {"a note"}});
    CHECK_THAT(page, Contains("0x1, once") && Contains("event 7") && Contains("&mdash;") &&
                         Contains("0x1 -&gt; 0x2 &amp; more") && Contains("a&lt;b&gt;.mmio") &&
                         Contains("different: 1 sure"));
    CHECK_THAT(page,
               !Contains("<script") && !Contains("<img") && !Contains("\x1b") && !Contains("http"));
}
