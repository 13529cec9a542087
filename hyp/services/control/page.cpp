// The control page (abi/control.hpp).
#include "control/control.hpp"

#include "engine/engine.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/shared.hpp"

#include <cstring>

namespace mmioscope {

namespace {

using namespace abi::control;

constexpr unsigned words = sizeof(Request) / 4;

/// Other CPUs may be writing the slot meanwhile; then the checksum is wrong.
Request read_request(const std::uint32_t (&from)[words]) {
    std::uint32_t raw[words];
    for (unsigned n = 0; n < words; ++n) raw[n] = port::load_shared(from[n]);
    Request request;
    std::memcpy(&request, raw, sizeof request);
    return request;
}

void write_reply(std::uint32_t (&to)[words], const Reply& reply) {
    std::uint32_t raw[words];
    std::memcpy(raw, &reply, sizeof raw);
    for (unsigned n = 0; n < words; ++n) port::store_shared(to[n], raw[n]);
}

} // namespace

std::uint32_t Control::load_word(unsigned offset) {
    if (offset >= first_slot) {
        const Slot& slot = slots_[(offset - first_slot) / slot_size];
        const unsigned word = offset % slot_size / 4;
        return port::load_shared(word < words ? slot.request[word] : slot.reply[word - words]);
    }
    switch (offset) {
    case 0: return page_magic;
    case 4: return version;
    case page_ticket: return tickets_.fetch_add(1, std::memory_order_relaxed) % slots;
    default: return 0;
    }
}

Outcome Control::store_word(Cpu& cpu, unsigned offset, std::uint32_t value) {
    if (offset < first_slot) return Outcome::done;
    Slot& slot = slots_[(offset - first_slot) / slot_size];
    const unsigned word = offset % slot_size / 4;
    if (word >= words) return Outcome::done;
    port::store_shared(slot.request[word], value);
    if (word != words - 1) return Outcome::done;
    const auto reply = serve(cpu, read_request(slot.request));
    if (!reply) {
        ++cpu.ring.statistics().retries;
        return Outcome::again;
    }
    write_reply(slot.reply, *reply);
    return Outcome::done;
}

Outcome Control::access(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    const DeviceAccess& access = cpu.trapped.access;
    const auto offset = static_cast<unsigned>(access.pa.value % page_size);
    if (!access.syndrome || access.log2_size != 2 || offset % 4 != 0 || access.reg == arch::pc)
        return nobody.access(cpu, frame, why);
    if (access.write) return store_word(cpu, offset, bus_value(frame, access.value, 2));
    set_guest_register(frame, access.reg, bus_value(frame, load_word(offset), 2));
    return Outcome::done;
}

} // namespace mmioscope
