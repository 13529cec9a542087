#include "cli/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>

namespace mmioscope::cli {

namespace {

// A word that is no command is named: CLI11 would say that one is missing.
void check_word(const CLI::App& app, int argc, char** argv) {
    const std::string word = argc > 1 ? argv[1] : "-";
    const auto is_it = [&word](const CLI::App* command) { return command->get_name() == word; };
    if (!word.starts_with('-') && app.get_subcommands(is_it).empty()) {
        throw bad_input("there is no command '{}' (see {} --help)", word, app.get_name());
    }
}

// Whose --help tells more.
std::string whole_command(const CLI::App& app) {
    const std::vector<CLI::App*> commands = app.get_subcommands();
    return commands.empty() ? app.get_name() : app.get_name() + " " + commands[0]->get_name();
}

Status parse_and_run(CLI::App& app, const Action& action, int argc, char** argv) {
    check_word(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        std::ostringstream text;
        app.exit(help, text);
        write_output(text.str());
        return Status::fine;
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "{}: {} (see {} --help)\n", app.get_name(), error.what(),
                   whole_command(app));
        return Status::bad_input;
    }
    return action();
}

} // namespace

void write_output(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
        throw failure("cannot write standard output: {}", std::strerror(errno));
    }
}

int run_program(CLI::App& app, const Action& action, int argc, char** argv) {
    try {
        return static_cast<int>(parse_and_run(app, action, argc, argv));
    } catch (const Error& error) {
        fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: unexpected: {}\n", app.get_name(), error.what());
        return static_cast<int>(Status::failed);
    }
}

} // namespace mmioscope::cli
