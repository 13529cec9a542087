// Checksums of what must not change once the guest runs, looked at where a CPU is started or the
// machine ended.
#include "base/crc32.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t flags_clear = at::sysreg + 0x34;
constexpr std::uint32_t store = 0x9381'0047; // of the word in r1; translation fault, level 3

/// Boots, lets `damage` have the machine, and then the guest write to SYS_FLAGSCLR; what the
/// hypervisor's UART says.
std::string text_after(std::function<void(Rig&)> damage) {
    Rig rig(options_for(abi::EngineKind::emulation, 1, 1));
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        damage(rig);
        core.system.set<reg::HSR>(store);
        core.system.set<reg::HDFAR>(flags_clear);
        core.system.set<reg::HPFAR>(flags_clear >> 12 << 4);
        mmioscope_guest_trap(cpu, core.frame);
    });
    rig.run();
    CHECK(rig.failure() == "");
    return rig.text();
}

std::string text_after_byte(std::uint64_t address) {
    return text_after([=](Rig& rig) { *rig.simulation.ram.at({address}) ^= std::byte{1}; });
}

bool contains(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("CRC-32 is zlib's") {
    const auto of = [](const std::string& text) {
        return crc32(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    };
    CHECK(of("") == 0);
    CHECK(of("123456789") == 0xcbf4'3926);
    CHECK(of(std::string(4096, '\xff')) == 0xf154'670a);
}

TEST_CASE("what has not changed does not stop the machine") {
    CHECK(!contains(text_after([](Rig&) {}), "stop"));
}

TEST_CASE("a changed byte of text, constants, tables or description stops the machine") {
    Range text, constants;
    std::uint64_t root = 0;
    text_after([&](Rig& rig) {
        text = rig.machine->image.text;
        constants = rig.machine->image.constants;
        root = rig.machine->normal_table.root().value;
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
