#include "plan/tried_board.hpp"

#include "plan/survey.hpp"
#include "system/error.hpp"

namespace mmioscope::plan {

run::Board tried_board(const std::string& name, std::span<const std::byte> tree) {
    const Survey survey(tree);
    if (!survey.faults.empty()) {
        const Fault& first = survey.faults.front();
        throw bad_input("--board {}: mmioscope plan finds {} missing in its tree: {}{}{}", name,
                        first.kind, first.node, first.node.empty() ? "" : ": ", first.text);
    }
    const Range& memory = survey.memory[0];
    run::Board board{.name = name,
                     .machine = name,
                     .ram_base = memory.begin,
                     .boot_image = survey.board.psci,
                     .memory = memory.size(),
                     .max_memory = memory.size(),
                     .max_cpus = static_cast<unsigned>(survey.cpus.size()),
                     .cpus_soldered = true,
                     .serials = 1,
                     .hypervisor_serial = 0,
                     .sd_card = true};
    return board;
}

} // namespace mmioscope::plan
