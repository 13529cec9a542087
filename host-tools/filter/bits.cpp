#include "filter/bits.hpp"

#include "records/kinds.hpp"
#include "registers/fields_text.hpp"

#include <algorithm>

namespace mmioscope::filter {

std::optional<std::uint64_t> field_value(const Event& event, const Field& field) {
    const abi::Record& record = event.record;
    const std::uint64_t into = event.offset() - event.reg()->offset; // bytes; huge if negative
    if (!trace::has_bus_value(record) || into >= 8) {
        return std::nullopt;
    }
    const auto within = static_cast<unsigned>(into);
    const unsigned size = std::min(abi::access_size(record), 8u);
    if (field.width == 0 || !registers::holds(field, size, within)) {
        return std::nullopt;
    }
    return registers::field_value(field, record.value, within);
}

std::string_view value_name(const Field& field, std::uint64_t value) {
    const std::string* name = registers::value_name(field, value);
    return name != nullptr ? std::string_view(*name) : std::string_view();
}

} // namespace mmioscope::filter
