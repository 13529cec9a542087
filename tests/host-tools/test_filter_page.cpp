// docs/man/mmioscope-filter.7: its examples are valid filters.
#include "filter/filter.hpp"
#include "sample_event.hpp"

#include <filesystem>
#include <fstream>

using namespace mmioscope;

namespace {

std::vector<std::string> page_lines() {
    const auto top = std::filesystem::read_symlink("/proc/self/exe")
                         .parent_path() // build/tests
                         .parent_path() // build
                         .parent_path();
    std::ifstream page(top / "docs/man/mmioscope-filter.7");
    std::vector<std::string> lines;
    for (std::string line; std::getline(page, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string without_escapes(std::string text) {
    for (std::size_t at = text.find("\\(dq"); at != std::string::npos; at = text.find("\\(dq")) {
        text.replace(at, 4, "\"");
    }
    return text;
}

} // namespace

TEST_CASE("the examples of the manual page are valid filters") {
    unsigned count = 0;
    const test::SampleEvent sample;
    for (const std::string& line : page_lines()) {
        if (line.starts_with(".Dl ")) {
            const std::string text = without_escapes(line.substr(4));
            INFO(text);
            CHECK_NOTHROW(filter::Filter(text)(sample.event()));
            ++count;
        }
    }
    CHECK(count >= 7);
}
