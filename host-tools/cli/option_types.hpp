// Types of options that several commands have: sizes, files, seconds.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::cli {

/// A byte count with K, M or G.
void add_size(CLI::App& command, const std::string& name, std::uint64_t& to,
              const std::string& help);

void add_file(CLI::App& command, const std::string& name, std::string& to, const std::string& help);

/// --symbols: files that name the guest's code, as symbols/symbol_files.hpp takes them.
void add_symbols(CLI::App& command, std::vector<std::string>& to);

/// One of `words`; of another one it says which is near.
CLI::Validator one_of(std::vector<std::string> words);

/// A number of things, at least `least`: no sign, no unit.
CLI::Validator count_from(std::uint64_t least);

/// Seconds: finite, and not below `least`.
CLI::Validator seconds_from(double least);

} // namespace mmioscope::cli
