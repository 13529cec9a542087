#include "cli/commands.hpp"
#include "cli/page_output.hpp"
#include "system/error.hpp"
#include "system/signals.hpp"
#include "system/user_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace mmioscope::cli::open_command {

namespace {

namespace fs = std::filesystem;

constexpr char footer[] = R"(
Writes the trace as a page, and opens it in the browser; without a screen it prints the page's path. The page has all
events, and needs no network. It is kept in ~/.cache/mmioscope/pages ($XDG_CACHE_HOME), with those of the last 8 traces,
or written to -o FILE. docs/report.md says how it is used. 10 million events are a page of about 100 MB: for more than
some millions choose a part by --from, --to or -F.

Examples:
  mmioscope open boot.mmio
  mmioscope open --from 9 --to 10 boot.mmio
  mmioscope open --dmesg dmesg.txt boot.mmio
  mmioscope open -F 'dev==mmc' boot.mmio -o mmc.html

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

/// A page in the user's cache folder.
std::string kept_page(const std::string& trace) {
    const std::string path =
        UserCache(user_cache_folder("pages")).place(fs::path(trace).filename().string() + ".html");
    if (path.empty()) {
        throw bad_input("there is no cache folder for the page: use -o FILE");
    }
    return path;
}

/// Starts the user's browser; false: there is no screen, or no way to find the browser.
bool show(const std::string& page) {
    const std::optional<std::string> opener = find_in_path("xdg-open");
    if (!opener ||
        (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr)) {
        return false;
    }
    const pid_t process = ::fork();
    if (process == 0) {
        restore_signals();
        ::setsid(); // it outlives the terminal
        ::execl(opener->c_str(), opener->c_str(), page.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    return process > 0;
}

Status open(const ViewOptions& options) {
    const std::string& trace = options.file.empty() ? options.input : options.file;
    const std::string path = options.output.empty() ? kept_page(trace) : options.output;
    const Status status = write_page(options, path, "open");
    if (options.output.empty()) {
        fmt::print("{}{}\n", show(path) ? "opened " : "", path);
    }
    return status;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<ViewOptions>();
    add_page_options(command, *options);
    command.add_option("-o,--output", options->output, "Write the page to FILE, and open nothing")
        ->type_name("FILE");
    command.footer(footer);
    return [options] { return open(*options); };
}

} // namespace

const Command row{"open", "Open a trace as a page in the browser", add};

} // namespace mmioscope::cli::open_command
