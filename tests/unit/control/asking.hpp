// Requests from a simulated guest, and from a test that acts as the guest.
#pragma once

#include "abi/control.hpp"
#include "abi/layout.hpp"
#include "sim/judge.hpp"

#include <bit>

namespace mmioscope::sim {

using abi::control::Command;
using abi::control::Reply;
using abi::control::Request;
using abi::control::Status;

inline constexpr std::uint32_t control_page = 0x8200'0000 + abi::control_page_offset;

/// Stores `request` into a slot and leaves the first word of the reply in r7. Changes r5 and r6.
inline void write_request(Code& code, const Request& request, unsigned slot = 0) {
    struct Words {
        std::uint32_t of[4];
    };
    const auto words = std::bit_cast<Words>(request);
    code.mov(5, control_page + abi::control::first_slot + slot * abi::control::slot_size);
    for (unsigned n = 0; n < 4; ++n) code.mov(6, words.of[n]).str(6, 5, 4 * n);
    code.ldr(7, 5, 16);
}

/// The sum of the statuses of all requests is in bits 15:8 of r8.
inline void ask_and_note(Code& code, const Request& request) {
    write_request(code, request);
    code.add_reg(8, 8, 7);
}

inline Status status_of(std::uint32_t first_word) {
    return static_cast<Status>(first_word >> 8 & 0xff);
}

/// On a machine where nothing else happens.
inline Reply ask(mmioscope::Cpu& cpu, Command command, std::uint32_t first = 0,
                 std::uint32_t second = 0) {
    const auto reply = execute(cpu, abi::control::make_request(command, 7, first, second));
    Simulation::current()->complete_system(); // the test reads memory itself
    return reply.value();
}

/// Boots one CPU and runs `action` as its guest.
template <class Action>
void as_guest(const RigOptions& options, Action action) {
    Rig rig(options);
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) { action(rig, cpu); });
    rig.run();
    CHECK(rig.failure() == "");
}

} // namespace mmioscope::sim
