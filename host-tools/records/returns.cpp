#include "records/returns.hpp"

namespace mmioscope::trace {

namespace {

bool of_probe(const abi::Record& record) {
    return record.type == abi::RecordType::call || record.type == abi::RecordType::ret;
}

} // namespace

void Returns::complete(abi::Record& record) {
    if (!of_probe(record)) {
        return;
    }
    auto& open = open_.at(record);
    if ((record.flags & abi::flag_returns) != 0) {
        open_.open_one(open, {record.time, record.pc, record.lr, record.sp});
    } else if (const auto ended = OpenCalls<Call>::ending(open, record);
               record.type == abi::RecordType::ret && !ended.empty()) {
        const Call& call = ended.front();
        record.pc = call.pc;
        record.duration = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(record.time - call.time, UINT32_MAX));
        open.resize(open.size() - ended.size());
    }
}

std::span<const abi::Record> Returns::completed(std::span<const abi::Record> records) {
    if (std::ranges::none_of(records, of_probe)) {
        return records;
    }
    copy_.assign(records.begin(), records.end());
    std::ranges::for_each(copy_, [this](abi::Record& record) { complete(record); });
    return copy_;
}

} // namespace mmioscope::trace
