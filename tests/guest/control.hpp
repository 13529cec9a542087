// The guest's end of the control page (hyp/abi/control.hpp).
#pragma once

#include "platform.hpp"

#include "abi/control.hpp"

#include <bit>

namespace guest {

namespace control = mmioscope::abi::control;
using control::Command;
using control::Status;

/// Sends `request`, valid or not, and returns the reply.
inline control::Reply send(const control::Request& request) {
    struct Words {
        u32 of[4];
    };
    const u32 slot = control_page + control::first_slot +
                     control::slot_size * read(control_page + control::page_ticket);
    const auto out = std::bit_cast<Words>(request);
    for (u32 n = 0; n < 4; ++n) write(slot + 4 * n, out.of[n]);
    Words in;
    for (u32 n = 0; n < 4; ++n) in.of[n] = read(slot + 16 + 4 * n);
    return std::bit_cast<control::Reply>(in);
}

/// Its reply must be intact, and to this request.
inline control::Reply ask(Command command, u32 first = 0, u32 second = 0) {
    static std::uint16_t id = 0;
    const control::Request request = control::make_request(command, ++id, first, second);
    const control::Reply reply = send(request);
    require(reply.check == control::check_of(reply), "a reply with a wrong check");
    require(reply.id == request.id, "a reply to another request");
    return reply;
}

inline void order(Command command, u32 first = 0, u32 second = 0) {
    const Status status = ask(command, first, second).status;
    if (status == Status::done) return;
    print("guest: status ", static_cast<u32>(status), "\n");
    failed("a request was refused");
}

/// Number of entries of CPU `cpu` into Hyp.
inline u32 traps(u32 cpu) {
    return ask(Command::statistic, 0, cpu).value[0];
}

} // namespace guest
