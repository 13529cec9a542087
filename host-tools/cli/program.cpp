#include "cli/program.hpp"

#include <exception>

namespace mmioscope::cli {

namespace {

Status run(CLI::App& app, const Action& action, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        app.exit(help);
        return Status::fine;
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "{0}: {1} (see {0} --help)\n", app.get_name(), error.what());
        return Status::bad_input;
    }
    return action();
}

} // namespace

int run_program(CLI::App& app, const Action& action, int argc, char** argv) {
    try {
        return static_cast<int>(run(app, action, argc, argv));
    } catch (const Error& error) {
        fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: unexpected: {}\n", app.get_name(), error.what());
        return static_cast<int>(Status::failed);
    }
}

} // namespace mmioscope::cli
