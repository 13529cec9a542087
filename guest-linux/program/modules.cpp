#include "modules.hpp"

#include "records/module_mark.hpp"
#include "symbols/module_files.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace mmioscope::guest {

namespace {

std::vector<symbols::ModuleSpan> loaded_modules() {
    const char* const path = "/proc/modules";
    std::ifstream file(path);
    if (!file) {
        throw bad_input("cannot open {}: this kernel has no modules", path);
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
        return symbols::read_modules(text);
    } catch (const Error& error) {
        throw bad_input("{}: {}", path, error.what());
    }
}

} // namespace

// Since Linux 6.4, a module's size is the sum of several areas, and areas of other modules lie
// between them. So its code ends at the latest where that of the next module begins.
std::vector<std::string> module_marks() {
    std::vector<symbols::ModuleSpan> modules = loaded_modules();
    std::sort(modules.begin(), modules.end(),
              [](const auto& a, const auto& b) { return a.base < b.base; });
    std::vector<std::string> marks;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const std::uint32_t room =
            i + 1 < modules.size() ? modules[i + 1].base - modules[i].base : modules[i].size;
        marks.push_back(
            trace::module_mark(modules[i].name, modules[i].base, std::min(modules[i].size, room)));
    }
    return marks;
}

} // namespace mmioscope::guest
