// mmioscope: records, prints and proves the device accesses of an unmodified Linux.
#include "abi/container.hpp"
#include "cli/commands.hpp"
#include "lib/origin.hpp"

int main(int argc, char** argv) {
    CLI::App app("Traces every device access of an unmodified Linux under a small hypervisor.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope");
    app.require_subcommand(1);
    app.set_version_flag("--version", // MMIOSCOPE_VERSION: the file VERSION, from host.mk
                         fmt::format("mmioscope {}, trace files of format {}.{}", MMIOSCOPE_VERSION,
                                     mmioscope::abi::file_version_major,
                                     mmioscope::abi::file_version_minor));
    mmioscope::cli::Action action;
    const std::string command =
        mmioscope::trace::command_text({argv, static_cast<std::size_t>(argc)});
    mmioscope::cli::add_run(app, action, command);
    mmioscope::cli::add_record(app, action, command);
    mmioscope::cli::add_print(app, action);
    mmioscope::cli::add_follow(app, action);
    mmioscope::cli::add_stat(app, action);
    mmioscope::cli::add_top(app, action);
    mmioscope::cli::add_info(app, action);
    mmioscope::cli::add_ctl(app, action);
    mmioscope::cli::add_at_start(app, action);
    mmioscope::cli::add_blackbox(app, action);
    mmioscope::cli::add_check(app, action);
    mmioscope::cli::add_verify(app, action);
    mmioscope::cli::add_export(app, action);
    mmioscope::cli::add_import(app, action);
    return mmioscope::cli::run_program(app, action, argc, argv);
}
