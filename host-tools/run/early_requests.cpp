#include "run/early_requests.hpp"

#include "abi/layout.hpp"
#include "control/device_finder.hpp"
#include "run/tree_devices.hpp"
#include "system/error.hpp"

#include <fmt/ranges.h>

namespace mmioscope::run {

namespace {

using abi::control::Command;

bool needs_running_guest(Command command) {
    return command == Command::describe || command == Command::statistic ||
           command == Command::flush || command == Command::snapshot || command == Command::hello;
}

std::vector<control::Ask> requests_of(const std::string& text, const control::FindDevice& find) {
    std::vector<control::Ask> asks = control::asks_of(control::words_of(text), find);
    for (const control::Ask& ask : asks) {
        if (needs_running_guest(ask.command)) {
            throw bad_input("this command works only while the guest runs");
        }
    }
    return asks;
}

} // namespace

std::vector<control::Ask> early_requests(const std::vector<std::string>& commands,
                                         const Bytes& tree, const std::string& option) {
    if (commands.empty()) {
        return {};
    }
    const wire::StreamHead devices = tree_devices(tree);
    const control::FindDevice find = [&devices](const std::string& name) {
        return control::find_device(devices, name);
    };
    std::vector<control::Ask> all;
    for (const std::string& command : commands) {
        try {
            const std::vector<control::Ask> asks = requests_of(command, find);
            all.insert(all.end(), asks.begin(), asks.end());
        } catch (const Error& error) {
            throw bad_input("{}'{}': {}", option, command, error.what());
        }
    }
    if (all.size() > abi::chosen::max_requests) {
        throw bad_input(
            "{}{} requests are too many, at most {} (a device counts once for each of its ranges)",
            option, all.size(), abi::chosen::max_requests);
    }
    return all;
}

std::vector<std::uint32_t> property_cells(const std::vector<control::Ask>& requests) {
    std::vector<std::uint32_t> cells;
    for (const control::Ask& ask : requests) {
        cells.insert(cells.end(), {static_cast<std::uint32_t>(ask.command), ask.first, ask.second});
    }
    return cells;
}

std::string property_text(const std::vector<control::Ask>& requests) {
    return fmt::format("{} \"<{:#x}>\"", abi::chosen::requests,
                       fmt::join(property_cells(requests), " "));
}

} // namespace mmioscope::run
