// The boot loader's options and requests (abi/layout.hpp).
#include "control/control.hpp"

#include "abi/control_check.hpp"
#include "abi/chosen.hpp"
#include "base/check.hpp"
#include "control/changing_pages.hpp"
#include "dt/option.hpp"
#include "machine/machine.hpp"
#include "port/wait.hpp"
#include "start/setup.hpp"

namespace mmioscope {

using abi::control::Command;
using abi::control::Status;

BootError Control::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    bool page = true;
    if (!read_word(tree, tree.find("/chosen"), abi::chosen::control, switches, page))
        return {"mmioscope,control must be on or off", ""};
    const std::uint64_t begin = machine.image.text.begin + abi::control_page_offset;
    if (page) machine.control_page = {begin, begin + page_size};
    machine.chooser = &choice_;
    return read_requests(tree, requests_);
}

// The unprotect engine changes the tables itself, at each access.
bool Control::add_to_tables(Machine& machine) {
    return machine.config.engine == abi::EngineKind::unprotect ||
           prepare_changing_pages(machine.normal(0), machine.regions, machine.map, machine.pool);
}

BootError Control::start(Machine& machine, const Setup&) {
    const Range& page = machine.control_page;
    const bool room = page.empty() || machine.give_page(page.begin, *this);
    return room ? BootError{} : BootError{"no room for the control page", ""};
}

Status Control::carry_out_early(Cpu& cpu, const EarlyRequest& request, std::uint16_t id) {
    constexpr std::uint32_t commands = 0x100;
    if (request.command >= commands) return Status::unknown;
    const auto reply = execute(cpu,
                               abi::control::make_request(static_cast<Command>(request.command), id,
                                                          request.argument[0], request.argument[1]),
                               When::before_first_instruction);
    check(reply.has_value(), "a lock is held before the guest runs");
    return reply->status;
}

void Control::before_readers(Cpu& cpu, Console& uart) {
    std::uint16_t id = 0;
    for (const EarlyRequest& request : requests_) {
        const Status status = carry_out_early(cpu, request, id++);
        if (status == Status::done) continue;
        print(uart, abi::stop_line, "mmioscope,requests: number ", std::uint32_t{id}, ", command ",
              request.command, " ", Hex{request.argument[0], 1}, " ", Hex{request.argument[1], 1},
              ": ", abi::control::early_reason(status), " (status ",
              static_cast<std::uint32_t>(status), ")\n", abi::end_of_report, "\n");
        port::halt();
    }
}

} // namespace mmioscope
