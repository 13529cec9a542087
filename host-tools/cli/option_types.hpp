// Option types that several commands share: sizes, files, seconds.
#pragma once

#include "reading/trace.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::cli {

/// --name and --no-name, of which the last one counts; `to` stays empty if neither is given.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& to,
                const std::string& help);

/// A number of bytes with K, M or G.
void add_size(CLI::App& command, const std::string& name, std::uint64_t& to,
              const std::string& help);

/// A 32-bit address, decimal or with 0x.
void add_address(CLI::App& command, const std::string& name, std::optional<std::uint32_t>& to,
                 const std::string& help);

/// --place low|top: whether the hypervisor lies at the RAM's end.
void add_place(CLI::App& command, bool& at_top);

void add_file(CLI::App& command, const std::string& name, std::string& to, const std::string& help);

/// An option that may be repeated, with one value each time, or several with `separator` in
/// between.
template <typename Values>
CLI::Option* add_values(CLI::App& command, const std::string& name, Values& to,
                        const std::string& help, char separator = 0) {
    return command.add_option(name, to, help)
        ->delimiter(separator)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
}

/// --symbols: files with names for the guest's code (symbols/symbol_files.hpp).
void add_symbols(CLI::App& command, std::vector<std::string>& to);

/// One of `words`. The message for any other word suggests a similar one.
CLI::Validator one_of(std::vector<std::string> words);

/// A count of at least `least`, without sign or unit.
CLI::Validator count_from(std::uint64_t least);

template <typename Count>
void add_count(CLI::App& command, const std::string& name, Count& to, const std::string& help,
               std::uint64_t least = 0) {
    command.add_option(name, to, help)->check(count_from(least))->type_name("N");
}

/// Nanoseconds of a time like "1.5" or "20ms". Throws Error (bad_input), with `option` in front, if
/// `text` is none.
std::uint64_t duration_of(const char* option, const std::string& text);

/// Not the empty text, which would be taken as if the option were not there.
CLI::Validator not_empty();

/// Finite seconds, at least `least`, at most `most`: 31 years.
CLI::Validator seconds_from(double least, double most = 1e9);

// The option that chooses CPUs.

/// --cpu: numbers and ranges (0,2-3); may be repeated.
void add_cpus(CLI::App& command, std::vector<unsigned>& to);

// Options for names that the trace itself does not have.

/// --symbols, --registers, --dtb.
void add_name_options(CLI::App& command, reading::TraceOptions& options);

/// --registers.
void add_registers(CLI::App& command, std::vector<std::string>& to);

// The list of formats in --help, for exports and imports.

/// One line for each row with a name and a help text.
template <typename Rows>
std::string lines_of(const Rows& formats) {
    std::string lines = "\nFORMAT is one of:\n";
    for (const auto& format : formats) {
        lines += fmt::format("  {:<10} {}\n", format.name, format.help);
    }
    return lines;
}

template <typename Rows>
std::vector<std::string> names_of(const Rows& formats) {
    std::vector<std::string> names;
    for (const auto& format : formats) {
        names.emplace_back(format.name);
    }
    return names;
}

} // namespace mmioscope::cli
