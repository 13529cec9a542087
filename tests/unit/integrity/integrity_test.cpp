// Checksums of what must not change once the guest runs. They are checked when a CPU is started or
// the machine ended, after requests, and when a CPU idles. PSCI's part is in trap/psci_test.cpp.
#include "catch_2_or_3.hpp"
#include "start/crc32.hpp"
#include "trap/dispatch.hpp"
#include "unit/control/asking.hpp"
#include "unit/stream/incoming_line.hpp"
#include "unprotect/shared_page.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;

namespace {

constexpr std::uint32_t cfgctrl = at::sysreg + 0xa4;
constexpr std::uint32_t switch_off = 0xc080'0000;

/// The machine after CPU 0 has booted, for code that acts as the guest.
struct Place {
    Rig& rig;
    Core& core;
    mmioscope::Cpu& cpu;

    std::byte& byte(std::uint64_t address) { return *rig.simulation.ram.at({address}); }
    void damage() { byte(rig.machine->image.text.begin) ^= std::byte{1}; }
    void repair() { damage(); }

    void store(std::uint32_t address, std::uint32_t value) {
        core.frame.r[1] = value;
        core.system.set<reg::HSR>(0x9381'0047); // of the word in r1; translation fault, level 3
        core.system.set<reg::HDFAR>(address);
        core.system.set<reg::HPFAR>(address >> 12 << 4);
        mmioscope_guest_trap(cpu, core.frame);
    }
    /// Through the control page.
    void ask(const Request& request) {
        std::uint32_t words[4];
        std::memcpy(words, &request, sizeof words);
        for (std::uint32_t n = 0; n < 4; ++n)
            store(control_page + abi::control::first_slot + 4 * n, words[n]);
    }
    void switch_board_off() { store(cfgctrl, switch_off); }
    void idle() {
        core.system.set<reg::HSR>(0x01u << 26 | 1u << 25); // WFI
        mmioscope_guest_trap(cpu, core.frame);
    }
    /// Allows a check directly after the previous one: a hundredth of a second is less than a tick.
    void look_each_time() { core.system.set<reg::CNTFRQ>(1); }
    /// Another CPU takes them, and keeps them.
    void take_changes() {
        std::uint64_t spins = 0;
        REQUIRE(rig.machine->changes.try_acquire(1, 16, spins));
    }
};

/// Boots and runs `action` as the guest. Returns the output on the hypervisor's UART.
std::string text_of(std::function<void(Place&)> action,
                    const RigOptions& options = options_for(abi::EngineKind::emulation, 1, 1)) {
    Rig rig(options);
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        Place place{rig, core, cpu};
        action(place);
    });
    rig.run();
    CHECK(rig.failure() == "");
    return rig.text();
}

/// Runs `damage` on the machine, and then makes the guest switch the board off.
std::string text_after(std::function<void(Rig&)> damage) {
    return text_of([&](Place& place) {
        damage(place.rig);
        place.switch_board_off();
    });
}

std::string text_after_byte(std::uint64_t address) {
    return text_after([=](Rig& rig) { *rig.simulation.ram.at({address}) ^= std::byte{1}; });
}

/// What a guest's fetch from a device's page does.
void fetch_from_device(Core& core, mmioscope::Cpu& cpu) {
    core.system.set<reg::HSR>(0x8200'0007); // a prefetch abort: translation fault, level 3
    core.system.set<reg::HIFAR>(at::fifo);
    core.system.set<reg::HPFAR>(at::fifo >> 12 << 4);
    mmioscope_guest_trap(cpu, core.frame);
    core.system.settle(); // the ERET
}

bool contains(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}
bool found(const std::string& text) {
    return contains(text, "stop: the hypervisor's memory was changed on CPU 0") &&
           contains(text, "mmioscope: changed: text 0x");
}

} // namespace

TEST_CASE("CRC-32 equals zlib's") {
    const auto of = [](const std::string& text) {
        return crc32(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    };
    CHECK(of("") == 0);
    CHECK(of("123456789") == 0xcbf4'3926);
    CHECK(of(std::string(4096, '\xff')) == 0xf154'670a);
    const char nine[] = "123456789";
    for (std::size_t from = 1; from < 5; ++from) { // from any start, and in two pieces
        alignas(4) char text[13];
        std::memcpy(text + from, nine, 9);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(text) + from;
        CHECK(crc32(bytes, 9) == 0xcbf4'3926);
        CHECK(crc32_end(crc32_more(crc32_more(crc32_start, bytes, from), bytes + from, 9 - from)) ==
              0xcbf4'3926);
    }
}

TEST_CASE("a page that the baseline has opened is no damage; a changed byte of text is") {
    Rig rig(options_for(abi::EngineKind::unprotect, 1, 1));
    rig.on_end(0, [&](Core&, mmioscope::Cpu&) {
        open_shared_page(*rig.machine->normal(0).entry(at::fifo));
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
        *rig.simulation.ram.at({rig.machine->image.text.begin}) ^= std::byte{1};
        CHECK(std::string(rig.services.integrity.find_damage(*rig.machine)->name) == "text");
    });
    rig.run();
    CHECK(rig.failure() == "");
}

TEST_CASE("unchanged memory does not stop the machine") {
    CHECK(!contains(text_after([](Rig&) {}), "stop"));
}

TEST_CASE("a machine that ends is checked if anything was traced or recorded") {
    const auto found_with = [](const std::string& trace, std::function<void(Place&)> action) {
        RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
        options.tree.trace = {trace};
        return found(text_of(
            [&](Place& place) {
                place.damage();
                action(place);
                place.switch_board_off();
            },
            options));
    };
    const auto nothing = [](Place&) {};
    CHECK(!found_with("none", nothing));
    CHECK(found_with("none", [](Place& place) { place.ask(make_request(Command::marker, 1, 7)); }));
    CHECK(found_with("/bus@8000000/motherboard/iofpga@3,00000000/hidden@170000", [](Place& place) {
        CHECK(place.cpu.ring.published() == place.cpu.bus.recorded());
    }));
}

TEST_CASE("a changed byte of text, constants, tables or description stops the machine") {
    Range text, constants;
    std::uint64_t root = 0;
    text_after([&](Rig& rig) {
        text = rig.machine->image.text;
        constants = rig.machine->image.constants;
        root = rig.machine->normal(0).root().value;
    });
    for (const auto& [address, name] : std::initializer_list<std::pair<std::uint64_t, std::string>>{
             {text.begin, "text"},
             {text.end - 1, "text"},
             {constants.begin, "constants"},
             {constants.end - 1, "constants"},
             {root + 31, "roots"},
             {root + 32, "tables"},
             {root + 4095, "tables"}}) {
        CAPTURE(address, name);
        const std::string said = text_after_byte(address);
        CHECK(contains(said, "stop: the hypervisor's memory was changed on CPU 0"));
        CHECK(contains(said, name == "roots" ? "unchanged: " : "changed: " + name + " 0x"));
    }
    const auto said = text_after([](Rig& rig) { rig.machine->regions[0].size += 1; });
    CHECK(contains(said, "changed: description 0x"));
}

TEST_CASE("a request that is carried out verifies the checksums, by page and by wire") {
    const Request sound =
        GENERATE(make_request(Command::describe, 1), make_request(Command::stop, 1),
                 make_request(Command::sample, 1, 2));
    CHECK(found(text_of([&](Place& place) {
        place.damage();
        place.ask(sound);
    })));
    IncomingLine line;
    line.add(sound);
    CHECK(found(text_of([&](Place& place) {
        place.rig.machine->area->counter_frequency =
            1000; // the line takes nothing, and sending gives up soon
        place.rig.services.stream.describe(*place.rig.machine->area, 0);
        place.rig.services.stream.start(line, *place.rig.machine->area, 0);
        place.rig.services.stream.accept_requests();
        place.damage();
        for (unsigned n = 0; n < 2; ++n) place.rig.services.stream_service.serve_line(place.cpu);
    })));
}

TEST_CASE("a marker, or a refused request, does not verify the checksums") {
    const Request request =
        GENERATE(make_request(Command::marker, 1, 7), make_request(Command::stop, 1, 7));
    const std::string said = text_of([&](Place& place) {
        place.damage();
        place.ask(request);
    });
    CHECK(!contains(said, "stop"));
}

TEST_CASE("requests without pause verify the checksums every 100 ms") {
    unsigned unseen = 0;
    CHECK(found(text_of([&](Place& place) {
        place.core.system.set<reg::CNTFRQ>(100'000);
        place.ask(make_request(Command::describe, 1));
        place.damage();
        const std::uint64_t began = place.rig.simulation.now();
        while (place.rig.simulation.now() - began < 11'000) {
            place.ask(make_request(Command::describe, 2));
            ++unseen;
        }
    })));
    CHECK(unseen >= 20);
}

TEST_CASE("each CPU that idles verifies one piece, and a round of them everything") {
    CHECK(found(text_of([](Place& place) {
        place.damage();
        place.idle();
    })));
    for (const unsigned visits_early : {0u, 1u}) {
        bool sound = true;
        const std::string said = text_of([&](Place& place) {
            place.look_each_time();
            const Range text = place.rig.machine->image.text;
            const std::size_t round = place.rig.services.integrity.round();
            CHECK(round > text.size() / 4096);
            for (std::size_t n = 0; n < 3 * round; ++n)
                place.rig.services.integrity.verify(*place.rig.machine, Moment::idle);
            place.byte(text.begin + 3 * page_size) ^= std::byte{1}; // the fourth piece
            for (unsigned n = 0; n < 4 - visits_early; ++n) {
                sound &= !contains(place.rig.text(), "stop");
                place.rig.services.integrity.verify(*place.rig.machine, Moment::idle);
            }
        });
        CHECK(sound);
        CHECK(found(said) == (visits_early == 0));
    }
}

TEST_CASE("CPUs that idle without pause verify a piece every 10 ms") {
    unsigned unseen = 0;
    CHECK(found(text_of([&](Place& place) {
        place.core.system.set<reg::CNTFRQ>(1'000'000);
        place.rig.services.integrity.verify(*place.rig.machine, Moment::idle); // the first piece
        place.byte(place.rig.machine->image.text.begin + page_size) ^= std::byte{1}; // the second
        const std::uint64_t began = place.rig.simulation.now();
        while (place.rig.simulation.now() - began < 11'000) {
            place.rig.services.integrity.verify(*place.rig.machine, Moment::idle);
            ++unseen;
        }
    })));
    CHECK(unseen >= 20);
}

TEST_CASE("a piece of each range is verified by CPUs that idle") {
    const auto found_at = [](std::uint64_t address) {
        return contains(text_of([&](Place& place) {
                            place.look_each_time();
                            place.byte(address) ^= std::byte{1};
                            for (std::size_t n = place.rig.services.integrity.round(); n > 0; --n)
                                place.rig.services.integrity.verify(*place.rig.machine,
                                                                    Moment::idle);
                        }),
                        "stop: the hypervisor's memory was changed");
    };
    Range text, constants;
    std::uint64_t root = 0;
    text_of([&](Place& place) {
        text = place.rig.machine->image.text;
        constants = place.rig.machine->image.constants;
        root = place.rig.machine->normal(0).root().value;
    });
    for (const std::uint64_t address : {text.begin, text.end - 1, constants.begin,
                                        constants.end - 1, root + 31, root + 32, root + 4095})
        CHECK(found_at(address));
}

TEST_CASE("checks after requests and at idle never wait for another CPU's check or change") {
    const std::string said = text_of([](Place& place) {
        place.damage();
        place.take_changes();
        const std::uint64_t began = place.rig.simulation.scheduler.steps();
        place.ask(make_request(Command::describe, 1));
        place.rig.services.integrity.verify(*place.rig.machine, Moment::idle);
        CHECK(place.rig.simulation.scheduler.steps() - began < 2000);
    });
    CHECK(!contains(said, "stop"));
}

TEST_CASE("a lock that is never released does not hide damage") {
    const bool damaged = GENERATE(true, false);
    const std::string said = text_of([&](Place& place) {
        if (damaged) place.damage();
        place.core.system.set<reg::CNTFRQ>(1);
        place.take_changes();
        place.switch_board_off();
    });
    CHECK(found(said) == damaged);
    CHECK(contains(said, "stop") == damaged);
}

TEST_CASE("a change that takes long is waited for, and is no damage") {
    unsigned turns = 0;
    const std::string said = text_of([&](Place& place) {
        place.damage();
        place.take_changes();
        place.rig.simulation.defects.while_waiting = [&] {
            if (++turns != 1'200'000) return;
            place.repair();
            place.rig.machine->changes.release();
        };
        place.switch_board_off();
    });
    CHECK(turns >= 1'200'000);
    CHECK(turns < 1'200'010); // the release is a store, which arrives some turns later
    CHECK(!contains(said, "stop"));
}

TEST_CASE("CPUs that look while another one changes what is traced find no damage", "[protocol]") {
    const bool at_end = GENERATE(false, true);
    for (std::uint64_t seed = 1; seed <= seeds(4); ++seed) {
        CAPTURE(at_end, seed);
        constexpr unsigned cpus = 4;
        RigOptions options = options_for(abi::EngineKind::shadow, cpus, seed);
        options.conditions.step_limit = 60'000'000;
        Rig rig(options);
        unsigned changing = 1;
        for (unsigned n = 0; n < cpus; ++n) {
            rig.program(n).end();
            rig.on_end(n, [&, n](Core& core, mmioscope::Cpu& cpu) {
                core.system.set<reg::CNTFRQ>(1); // nobody waits for the lock
                if (n == 0) {
                    for (unsigned i = 0; i < 20; ++i)
                        while (!execute(
                            cpu, make_request(i % 2 == 0 ? Command::stop : Command::start, 1)))
                            rig.simulation.point();
                    changing = 0;
                } else {
                    while (changing != 0) {
                        if (at_end) rig.services.integrity.verify(*rig.machine, Moment::last);
                        else fetch_from_device(core, cpu);
                        rig.simulation.point();
                    }
                }
            });
        }
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find("stop") == std::string::npos);
    }
}

TEST_CASE("a guest that fetches from devices without pause has everything verified every 100 ms") {
    unsigned unseen = 0;
    CHECK(found(text_of([&](Place& place) {
        place.core.system.set<reg::CNTFRQ>(100'000);
        fetch_from_device(place.core, place.cpu);
        place.damage();
        const std::uint64_t began = place.rig.simulation.now();
        while (place.rig.simulation.now() - began < 11'000) {
            fetch_from_device(place.core, place.cpu);
            ++unseen;
        }
    })));
    CHECK(unseen >= 20);
}

TEST_CASE("an emptied list of services is noticed where they are called") {
    CHECK(text_of([](Place& place) {
              place.rig.machine->services = {};
              verify_services(*place.rig.machine, Moment::last);
          }).find("the list of services was changed") != std::string::npos);
}
