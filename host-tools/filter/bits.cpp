#include "filter/bits.hpp"

#include "filter/field.hpp"

#include <algorithm>

namespace mmioscope::filter {

std::optional<std::uint64_t> field_value(const Event& event, const Field& field) {
    const abi::Record& record = *event.record;
    const std::uint64_t into = event.offset - event.reg->offset; // bytes; huge if below it
    if (!has_access(record) || record.type == abi::RecordType::fault ||
        (record.flags & abi::flag_value_unknown) != 0 || into >= 8) {
        return std::nullopt;
    }
    const auto first = static_cast<unsigned>(into) * 8;
    const unsigned bits = std::min(abi::access_size(record), 8u) * 8;
    if (field.low < first || field.width == 0 || field.low - first + field.width > bits) {
        return std::nullopt;
    }
    const std::uint64_t mask = field.width >= 64 ? UINT64_MAX : (1ull << field.width) - 1;
    return record.value >> (field.low - first) & mask;
}

std::string_view value_name(const Field& field, std::uint64_t value) {
    const auto named = std::find_if(field.values.begin(), field.values.end(),
                                    [value](const auto& one) { return one.first == value; });
    return named == field.values.end() ? std::string_view() : named->second;
}

} // namespace mmioscope::filter
