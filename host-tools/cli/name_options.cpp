#include "cli/name_options.hpp"

#include "cli/option_types.hpp"

namespace mmioscope::cli {

void add_registers(CLI::App& command, std::vector<std::string>& to) {
    command
        .add_option("--registers", to,
                    "Descriptions of registers (mmioscope-registers(5) or CMSIS-SVD); may be "
                    "repeated")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->check(not_empty())
        ->type_name("FILE");
}

void add_name_options(CLI::App& command, reading::TraceOptions& options) {
    add_symbols(command, options.symbols);
    add_registers(command, options.registers);
    add_file(command, "--dtb", options.tree, "Board's device tree, for a trace without one");
}

} // namespace mmioscope::cli
