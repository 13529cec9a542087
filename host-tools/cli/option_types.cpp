#include "cli/option_types.hpp"

#include "abi/ring.hpp"
#include "system/error.hpp"
#include "system/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
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
    add_values(command, "--symbols", to,
               "Names of functions: a vmlinuz, a vmlinux, a System.map, a module (FILE@ADDRESS of "
               "its .text), or a copy of /proc/kallsyms or /proc/modules; may be repeated")
        ->check(not_empty())
        ->type_name("FILE");
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

namespace {

using Cpu = decltype(abi::Record::cpu);

struct Range {
    std::uint64_t first;
    std::uint64_t last;
};

// "2" or "1-3".
std::optional<Range> range_of(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
    const bool good = first && last && *first <= *last && *last <= std::numeric_limits<Cpu>::max();
    return good ? std::optional(Range{*first, *last}) : std::nullopt;
}

// CLI11's own lists leave out empty words.
std::vector<Range> ranges_of(std::string_view text) {
    std::vector<Range> ranges;
    for (std::size_t at = 0; at <= text.size();) {
        const std::string_view word = text.substr(at, text.find(',', at) - at);
        const std::optional<Range> range = range_of(word);
        if (!range) {
            throw CLI::ValidationError("--cpu", "'" + std::string(word) +
                                                    "' is not a CPU, or a range of CPUs such as "
                                                    "1-3");
        }
        ranges.push_back(*range);
        at += word.size() + 1;
    }
    return ranges;
}

} // namespace

void add_cpus(CLI::App& command, std::vector<unsigned>& to) {
    command
        .add_option_function<std::vector<std::string>>(
            "--cpu",
            [&to](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    for (const Range& range : ranges_of(text)) {
                        for (std::uint64_t cpu = range.first; cpu <= range.last; ++cpu) {
                            to.push_back(static_cast<unsigned>(cpu));
                        }
                    }
                }
            },
            "Only events of these CPUs (1, 0,2-3)")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->type_name("N[-M][,...]");
}

void add_registers(CLI::App& command, std::vector<std::string>& to) {
    add_values(command, "--registers", to,
               "Descriptions of registers (mmioscope-registers(5) or CMSIS-SVD); may be repeated")
        ->check(not_empty())
        ->type_name("FILE");
}

void add_name_options(CLI::App& command, reading::TraceOptions& options) {
    add_symbols(command, options.symbols);
    add_registers(command, options.registers);
    add_file(command, "--dtb", options.tree, "Board's device tree, for a trace without one");
}

} // namespace mmioscope::cli
