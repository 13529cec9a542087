// Writes a trace as a page: what `open` and `report` share.
#pragma once

#include "cli/view_options.hpp"

#include <string>
#include <string_view>

namespace mmioscope::cli {

/// The options of both: what to read, and which part of it.
void add_page_options(CLI::App& command, ViewOptions& options);

/// Writes the page to `path`, and prints the trace's verdict on standard error. A trace of which
/// only a part is chosen, or which is not one packed file, is made one first, beside the page.
/// `command` is for messages. Throws Error.
Status write_page(const ViewOptions& options, const std::string& path, std::string_view command);

} // namespace mmioscope::cli
