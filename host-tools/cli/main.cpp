// mmioscope: records, prints and proves the device accesses of an unmodified Linux.
#include "cli/commands.hpp"

#include <exception>

namespace {

using mmioscope::Status;

Status run(int argc, char** argv) {
    CLI::App app("Traces every device access of an unmodified Linux under a small hypervisor.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope");
    app.require_subcommand(1);
    mmioscope::cli::Action action;
    mmioscope::cli::add_run(app, action);
    mmioscope::cli::add_record(app, action);
    mmioscope::cli::add_print(app, action);
    mmioscope::cli::add_ctl(app, action);
    mmioscope::cli::add_blackbox(app, action);
    mmioscope::cli::add_verify(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        app.exit(help);
        return Status::fine;
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "mmioscope: {} (see mmioscope --help)\n", error.what());
        return Status::bad_input;
    }
    return action();
}

} // namespace

int main(int argc, char** argv) {
    try {
        return static_cast<int>(run(argc, argv));
    } catch (const mmioscope::Error& error) {
        fmt::print(stderr, "mmioscope: {}\n", error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        fmt::print(stderr, "mmioscope: unexpected: {}\n", error.what());
        return static_cast<int>(Status::failed);
    }
}
