#include "stacks/stacks.hpp"

#include "abi/chosen.hpp"
#include "dt/option.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "start/setup.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

namespace {

constexpr std::uint32_t bytes_of(std::uint32_t words) {
    return static_cast<std::uint32_t>(sizeof(abi::StackHead)) + 4 * words;
}

} // namespace

BootError Stacks::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    const int chosen = tree.find("/chosen");
    Property devices = tree.property(chosen, abi::chosen::stacks);
    std::uint32_t size = abi::default_stack;
    if (auto e = read_cell(tree, chosen, abi::chosen::stack_size, size)) return e;
    if (size == 0 || size % 4 != 0 || size > abi::most_stack)
        return {"mmioscope,stack-size must be a multiple of 4, up to 2048", ""};
    static_assert(abi::most_stack == 2048); // the message says so
    words_ = size / 4;
    if (!devices) return {};
    if (machine.config.engine == abi::EngineKind::unprotect)
        return {"mmioscope,stacks needs the engine shadow or emulation", ""};
    if (devices.size == 0 || devices.value[devices.size - 1] != '\0')
        return {"mmioscope,stacks is no list of strings", ""};
    while (const char* name = devices.take_text()) {
        if (std::strcmp(name, "calls") == 0) of_calls_ = true;
        else if (auto e = choose(machine, setup, name)) return e;
    }
    return {};
}

/// All bytes of a device that are no other's.
BootError Stacks::choose(Machine& machine, const Setup& setup, const char* name) {
    const bool all = std::strcmp(name, "all") == 0;
    const int node = all ? 0 : setup.tree.find(name);
    if (node < 0) return {"unknown device in mmioscope,stacks", name, true};
    char path[abi::path_size];
    setup.tree.path(node, path, sizeof path);
    for (Span& span : machine.map) {
        if (span.region == abi::no_device || span.is_withheld()) continue;
        const abi::RegionEntry& region = machine.regions[span.region];
        const bool chosen =
            all ? (region.flags & abi::region_memory) == 0 : std::strcmp(region.path, path) == 0;
        if (!chosen || (span.hooks != nullptr && span.hooks != &machine_register_hooks)) continue;
        span.mapped = Mapped::in_steps;
        span.hooks = this;
    }
    return {};
}

/// The guest's registers, and the words of its stack, up to the first page that cannot be read.
Payload Stacks::copy(Cpu& cpu, const Frame& frame) {
    Copy& to = copies_[cpu.number];
    to.head.kind = abi::PayloadKind::stack;
    for (unsigned n = 0; n < std::size(to.head.registers); ++n)
        to.head.registers[n] = guest_register(frame, 4 + n);
    VirtualAddress at{guest_register(frame, 13)};
    std::uint32_t count = 0;
    while (count < words_ && at.value % 4 == 0) {
        const auto on_page = static_cast<std::uint32_t>(page_size - at.value % page_size) / 4;
        const std::span<std::uint32_t> part(to.words + count, std::min(words_ - count, on_page));
        const auto pa = translate(cpu, frame, at, false);
        if (!pa || !read_guest_memory(*cpu.machine, *pa, part)) break;
        count += static_cast<std::uint32_t>(part.size());
        at = at + static_cast<std::uint32_t>(part.size_bytes());
    }
    return {reinterpret_cast<const std::uint8_t*>(&to), bytes_of(count)};
}

Payload Stacks::of_call(Cpu& cpu, const Frame& frame) {
    return of_calls_ ? copy(cpu, frame) : Payload{};
}

std::uint32_t Stacks::records_of_call() const {
    return of_calls_ ? abi::pieces_of(bytes_of(words_)) : 0;
}

/// The stacks of User mode are the processes'. Whether it is a register of the machine's, its hooks
/// find out themselves.
std::optional<Outcome> Stacks::before(Cpu& cpu, Frame& frame) {
    if (cpu.trapped.access.recorded && arch::mode_of(frame.psr) != arch::Mode::usr) {
        if (!has_room_for(cpu, abi::pieces_of(bytes_of(words_)))) return Outcome::again;
        cpu.trapped.payload = copy(cpu, frame);
    }
    return machine_register_hooks.before(cpu, frame);
}

void Stacks::after(Cpu& cpu, Frame& frame) {
    cpu.trapped.payload = {};
    machine_register_hooks.after(cpu, frame);
}

} // namespace mmioscope
