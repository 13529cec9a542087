// The page that `make report` bundles, into which the data of traces goes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mmioscope::report {

/// The page around the data.
struct Page {
    std::string before, after;
};

/// The page for a program in `folder`: in report/ beside it, as built, or in ../share/mmioscope/,
/// as installed. Throws Error (bad_input) if there is none.
std::filesystem::path find_page(const std::filesystem::path& folder);

/// Throws Error (bad_input) if the file cannot be read, or has no place for data: "@DATA@".
Page load_page(const std::filesystem::path& path);

} // namespace mmioscope::report
