// Requests before the guest's first instruction, each as words of --at-start and as the cells that
// a boot gets: values around each limit, and at random.
#pragma once

#include "abi/control_check.hpp"

#include <random>
#include <string>
#include <vector>

namespace mmioscope::test {

struct EarlyCase {
    std::string words; ///< empty: no words say this
    abi::control::Request request;
};

/// The same for each `seed`. `devices`: addresses where devices are.
inline std::vector<EarlyCase> early_cases(unsigned seed, std::vector<std::uint32_t> devices) {
    using abi::control::Command;
    std::mt19937 random(seed);
    std::vector<std::uint32_t> values = {0, 1, 2, 3, 4, 7, 8, 31, 32, 0xff, 0x100, 0x1000};
    for (const std::uint32_t limit : {0x4000'0000u, 0x8000'0000u, 0xffff'f000u, 0u})
        for (const int step : {-1, 0, 1}) values.push_back(limit + static_cast<unsigned>(step));
    values.insert(values.end(), devices.begin(), devices.end());
    for (unsigned n = 0; n < 8; ++n) values.push_back(static_cast<std::uint32_t>(random()));

    std::vector<EarlyCase> all;
    const auto add = [&all](std::string words, Command command, std::uint32_t first,
                            std::uint32_t second) {
        all.push_back({std::move(words), abi::control::make_request(command, 0, first, second)});
    };
    const auto text = [](std::uint32_t value) { return std::to_string(value); };
    for (const std::uint32_t a : values) {
        add("sample " + text(a), Command::sample, a, 0);
        add("trigger start count " + text(a), Command::trigger_start, a, 0);
        add("trigger stop count " + text(a), Command::trigger_stop, a, 0);
        add("filter cpus " + text(a), Command::filter_cpus, a < 32 ? 1u << a : 1u << 31, 0);
        add("mark " + text(a), Command::marker, a, 0);
        if (a < 3)
            add("policy " + std::string(a == 0   ? "drop"
                                        : a == 1 ? "stall"
                                                 : "flight"),
                Command::policy, a, 0);
        for (const std::uint32_t b : values) {
            const std::string range = text(a) + "+" + text(b);
            add("select " + range, Command::select_range, a, b);
            add("deselect " + range, Command::deselect_range, a, b);
            add("filter value " + text(b) + "/" + text(a), Command::filter_values, a, b);
            add("trigger start value " + text(b) + "/" + text(a), Command::trigger_values, a, b);
            // A size of 0 means any address, for which there are no words.
            add(b != 0 ? "filter address " + range : "", Command::filter_addresses, a, b);
            add(b != 0 ? "trigger stop address " + range : "", Command::trigger_addresses, a, b);
            add(b != 0 ? "filter pc " + range : "", Command::filter_pcs, a, b);
            add("", static_cast<Command>(random() % 30), a, b);
        }
    }
    return all;
}

} // namespace mmioscope::test
