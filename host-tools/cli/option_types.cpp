#include "cli/option_types.hpp"

#include "system/error.hpp"
#include "system/suggestion.hpp"
#include "system/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace mmioscope::cli {

void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& to,
                const std::string& help) {
    command
        .add_flag_function(
            "--" + name + ",!--no-" + name, [&to](std::int64_t count) { to = count > 0; }, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_size(CLI::App& command, const std::string& name, std::uint64_t& to,
              const std::string& help) {
    command
        .add_option_function<std::string>(
            name,
            [name, &to](const std::string& text) {
                const std::optional<std::uint64_t> size = parse_size(text);
                if (!size) {
                    throw CLI::ValidationError(
                        name,
                        "'" + text + "' is not a number of bytes, such as 4096, 64K, 512M or 1G");
                }
                to = *size;
            },
            help)
        ->type_name("SIZE");
}

void add_address(CLI::App& command, const std::string& name, std::optional<std::uint32_t>& to,
                 const std::string& help) {
    command
        .add_option_function<std::string>(
            name,
            [name, &to](const std::string& text) {
                const std::optional<std::uint64_t> address = parse_number(text);
                if (!address || *address > UINT32_MAX) {
                    throw CLI::ValidationError(
                        name, "'" + text + "' is not an address below 4G, such as 0x40000000");
                }
                to = static_cast<std::uint32_t>(*address);
            },
            help)
        ->type_name("ADDRESS");
}

void add_place(CLI::App& command, bool& at_top) {
    command
        .add_option_function<std::string>(
            "--place", [&at_top](const std::string& word) { at_top = word == "top"; },
            "Where the hypervisor lies: low (default), 128 MiB into the RAM, or top, at its end: "
            "the guest's memory is in one piece")
        ->check(one_of({"low", "top"}));
}

void add_file(CLI::App& command, const std::string& name, std::string& to,
              const std::string& help) {
    command.add_option(name, to, help)->check(not_empty())->type_name("FILE");
}

void add_symbols(CLI::App& command, std::vector<std::string>& to) {
    command
        .add_option(
            "--symbols", to,
            "Names of functions: a vmlinuz, a vmlinux, a System.map, a module (FILE@ADDRESS "
            "of its .text), or a copy of /proc/kallsyms or /proc/modules; may be repeated")
        ->check(not_empty())
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// Made at every start of the program: CLI::IsMember takes longer.
CLI::Validator one_of(std::vector<std::string> words) {
    std::string all = "{";
    for (const std::string& word : words) {
        all.append(all.size() > 1 ? "," : "").append(word);
    }
    all += '}';
    const auto check = [words = std::move(words), all](const std::string& word) -> std::string {
        const bool known = std::ranges::find(words, word) != words.end();
        return known ? "" : fmt::format("{} not in {}{}", word, all, suggestion(word, words));
    };
    return {check, all};
}

// CLI11 itself would turn "-1" into the largest number.
CLI::Validator count_from(std::uint64_t least) {
    return {[least](const std::string& text) -> std::string {
                const std::optional<std::uint64_t> count = parse_number(text);
                return count && *count >= least
                           ? ""
                           : fmt::format("'{}' is not a whole number, {} or more", text, least);
            },
            ""};
}

std::uint64_t duration_of(const char* option, const std::string& text) {
    const std::optional<std::uint64_t> duration = parse_duration(text);
    if (!duration) {
        throw bad_input("{} {}: must be seconds, or have a unit: s, ms, us, ns, m or h", option,
                        text);
    }
    return *duration;
}

CLI::Validator not_empty() {
    return {[](const std::string& text) -> std::string {
                return text.empty() ? "is empty: leave the option out, or give it a value" : "";
            },
            ""};
}

CLI::Validator seconds_from(double least, double most) {
    return {[least, most](const std::string& text) -> std::string {
                char* end = nullptr;
                const double value = std::strtod(text.c_str(), &end);
                const bool good = end != text.c_str() && *end == 0 && std::isfinite(value);
                return good && value >= least && value <= most
                           ? ""
                           : "'" + text + "' is not a number of seconds";
            },
            ""};
}

} // namespace mmioscope::cli
