#include "records/open_accesses.hpp"

namespace mmioscope::trace {

std::optional<abi::Record> OpenAccesses::add(const abi::Record& record) {
    std::optional<abi::Record> unended;
    if (const auto found = begun_.find(record.cpu); found != begun_.end()) {
        const bool next = record.cpu_sequence == found->second.cpu_sequence + 1;
        const bool lost = record.type == abi::RecordType::gap;
        if (next && !lost && !abi::ends(found->second, record)) {
            unended = found->second;
        }
        begun_.erase(found);
    }
    if (record.type == abi::RecordType::begin) {
        begun_.emplace(record.cpu, record);
    }
    return unended;
}

std::vector<abi::Record> OpenAccesses::open() const {
    std::vector<abi::Record> all;
    for (const auto& [cpu, begin] : begun_) {
        all.push_back(begin);
    }
    return all;
}

} // namespace mmioscope::trace
