#include "report/page.hpp"

#include "system/error.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view place = "@DATA@"; ///< page/page.html has it once

} // namespace

fs::path find_page(const fs::path& folder) {
    const fs::path installed = folder.parent_path() / "share/mmioscope";
    for (const fs::path& path : {folder / "report", installed}) {
        std::error_code ignored;
        if (fs::exists(path / "report.html", ignored)) {
            return path / "report.html";
        }
    }
    throw bad_input("there is no report.html in {} or {}: run `make report` (needs npm)",
                    (folder / "report").string(), installed.string());
}

Page load_page(const fs::path& path) {
    const std::string page = whole_file(path.string(), "page");
    const std::size_t at = page.find(place);
    if (at == page.npos) {
        throw bad_input("{} has no @DATA@, the place for the data: run `make report`",
                        path.string());
    }
    return {page.substr(0, at), page.substr(at + place.size())};
}

} // namespace mmioscope::report
