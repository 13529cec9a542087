#include "cli/cpu_option.hpp"

#include "abi/ring.hpp"
#include "system/units.hpp"

#include <limits>
#include <optional>
#include <string>

namespace mmioscope::cli {

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

} // namespace mmioscope::cli
