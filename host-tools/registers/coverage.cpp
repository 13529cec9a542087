#include "registers/coverage.hpp"

#include "abi/record.hpp"

namespace mmioscope::registers {

void CoverageCount::add(const Touched& one) {
    ++touched;
    device += one.device ? 1 : 0;
    reg += one.reg ? 1 : 0;
    field += one.field ? 1 : 0;
}

void Coverage::add(const Event& event) {
    if (event.record.type != abi::RecordType::access) {
        return;
    }
    const std::uint64_t offset = event.reg() != nullptr ? event.reg()->offset : event.offset();
    Touched& touched = touched_[{std::string(event.device()), offset}];
    ++(abi::is_write(event.record) ? touched.writes : touched.reads);
    touched.device = touched.device && event.record.device != abi::no_device;
    touched.reg = touched.reg && event.reg() != nullptr;
    touched.field = touched.field && event.reg() != nullptr && !event.reg()->fields.empty();
}

std::map<std::string, CoverageCount> Coverage::devices() const {
    std::map<std::string, CoverageCount> counts;
    for (const auto& [place, touched] : touched_) {
        counts[place.first].add(touched);
    }
    return counts;
}

CoverageCount Coverage::total() const {
    CoverageCount count;
    for (const auto& [place, touched] : touched_) {
        count.add(touched);
    }
    return count;
}

std::map<Coverage::Place, Touched> Coverage::unnamed() const {
    std::map<Place, Touched> found = touched_;
    std::erase_if(found, [](const auto& entry) { return entry.second.field; });
    return found;
}

} // namespace mmioscope::registers
