#include "registers/register_names.hpp"

namespace mmioscope::registers {

namespace {

// Adds the names of `entry` from its series `depth` on; the outer ones give `start`.
bool add_names(const Entry& entry, std::size_t depth, std::uint64_t start,
               std::vector<std::string>& to) {
    if (depth == entry.series.size()) {
        to.push_back(instance(entry, start).name);
        return to.size() < most_names;
    }
    const Series& series = entry.series[depth];
    for (std::uint64_t i = 0; i < series.count; ++i) {
        if (!add_names(entry, depth + 1, start + i * series.step, to)) {
            return false;
        }
    }
    return true;
}

} // namespace

bool add_names(const Description& description, std::vector<std::string>& to) {
    for (const Entry& entry : description.entries) {
        if (!add_names(entry, 0, entry.first.offset, to)) {
            return false;
        }
    }
    return true;
}

} // namespace mmioscope::registers
