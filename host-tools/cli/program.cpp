#include "cli/program.hpp"

#include "system/message.hpp"
#include "system/units.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

namespace mmioscope::cli {

namespace {

// Reports an unknown command by name: CLI11 would only say that a command is missing.
void check_word(const CLI::App& app, int argc, char** argv) {
    const std::string word = argc > 1 ? argv[1] : "-";
    const auto is_it = [&word](const CLI::App* command) { return command->get_name() == word; };
    if (!word.starts_with('-') && app.get_subcommands(is_it).empty()) {
        std::vector<std::string> commands;
        for (const CLI::App* command : app.get_subcommands(nullptr)) {
            commands.push_back(command->get_name());
        }
        throw bad_input("there is no command '{}'{} (see {} --help)", word,
                        suggestion(word, commands), app.get_name());
    }
}

// The command whose --help has more.
std::string whole_command(const CLI::App& app) {
    const std::vector<CLI::App*> commands = app.get_subcommands();
    return commands.empty() ? app.get_name() : app.get_name() + " " + commands[0]->get_name();
}

// Options that were renamed.
constexpr std::pair<std::string_view, std::string_view> renamed[] = {{"--until", "--to"}};

// The error for a command line with extra words.
std::string no_option(const CLI::App& app) {
    const std::vector<CLI::App*> commands = app.get_subcommands();
    const CLI::App& command = commands.empty() ? app : *commands[0];
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    for (const std::string& rest : app.remaining(true)) {
        const std::string word = rest.substr(0, rest.find('='));
        const auto* const now =
            std::ranges::find(renamed, word, [](auto& one) { return one.first; });
        if (now != std::end(renamed)) {
            return fmt::format("{} is {} now", word, now->second);
        }
        if (word.starts_with('-')) {
            return fmt::format("there is no option {}{}", word, suggestion(word, names));
        }
    }
    return "";
}

Status parse_and_run(CLI::App& app, const Action& action, int argc, char** argv) {
    check_word(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        std::ostringstream text;
        app.exit(help, text);
        write_output(text.str());
        return status_of_output(Status::fine);
    } catch (const CLI::ParseError& error) {
        const bool left_over = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
        const std::string other = left_over ? no_option(app) : "";
        print_message("{}: {} (see {} --help)\n", app.get_name(),
                      for_terminal(other.empty() ? error.what() : other), whole_command(app));
        return Status::bad_input;
    }
    return action();
}

} // namespace

int run_program(CLI::App& app, const Action& action, int argc, char** argv) {
    try {
        return static_cast<int>(parse_and_run(app, action, argc, argv));
    } catch (const Error& error) {
        print_message("{}: {}\n", app.get_name(), error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        print_message("{}: unexpected: {}\n", app.get_name(), for_terminal(error.what()));
        return static_cast<int>(Status::failed);
    }
}

} // namespace mmioscope::cli
