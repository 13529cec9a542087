#include "analysis/kept_access.hpp"

#include "analysis/register_history.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace mmioscope::analysis {

namespace {

std::string code_of(const Event& event) {
    if (const Location* const code = event.code(); code != nullptr && !code->function.empty()) {
        return code->function;
    }
    return fmt::format("{:#010x}", event.record.pc);
}

table::Cell cell_of(std::string text) {
    return text.empty() ? table::Cell() : table::Cell(std::move(text));
}

table::Row cells_of(const Event& event) {
    const abi::Record& record = event.record;
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    return {event.number,
            event.nanoseconds,
            std::uint64_t{record.cpu},
            std::string_view(abi::is_write(record) ? "w" : "r"),
            std::string(event.device()),
            registers::register_text(event.place()),
            known ? table::Cell(table::Hex{record.value}) : table::Cell(),
            known ? cell_of(fields_of(event)) : table::Cell(),
            code_of(event),
            event.task() == nullptr ? table::Cell() : table::Cell(event.task()->comm)};
}

} // namespace

std::optional<std::uint64_t> value_at(const abi::Record& record, const Bytes& bytes) {
    constexpr std::uint64_t of_value = sizeof record.value; // a wider access has no known value
    const std::uint64_t behind = bytes.begin - abi::physical_address(record);
    const std::uint64_t size = bytes.end - bytes.begin;
    if ((record.flags & abi::flag_value_unknown) != 0 || behind >= of_value ||
        size > of_value - behind) {
        return std::nullopt;
    }
    const std::uint64_t value = record.value >> 8 * behind;
    return size == of_value ? value : value & ((std::uint64_t{1} << 8 * size) - 1);
}

void KeptAccess::forget() {
    if (!empty() && row_.empty()) {
        row_ = cells_of(event_);
    }
}

table::Row KeptAccess::row(std::string_view what) const {
    table::Row row = row_.empty() ? cells_of(event_) : row_;
    row.insert(row.begin(), what);
    return row;
}

table::Row KeptAccess::row_of_part(const KeptAccess& wider, std::string_view what) const {
    constexpr std::size_t reg = 6, value = 7, fields = 8; // of kept_columns()
    table::Row row = wider.row(what);
    row[reg] = this->row("")[reg];
    const std::optional<std::uint64_t> part = value_at(wider.record(), touched_by(record()));
    row[value] = part ? table::Cell(table::Hex{*part}) : table::Cell();
    row[fields] =
        part && reg_ != nullptr
            ? cell_of(registers::fields_text(*reg_, *part, abi::access_size(record()), within_))
            : table::Cell();
    return row;
}

std::vector<table::Column> kept_columns() {
    using enum table::Look;
    return {{"what", "access", words, 8},
            {"event", "event", number, 9},
            {"ns", "seconds", seconds, 12},
            {"cpu", "cpu", number, 3},
            {"dir", "rw"},
            {"device", "device", device, 12},
            {"register", "register"},
            {"value", "value", number, 10, 8},
            {"fields", "fields"},
            {"function", "function"},
            {"task", "task"}};
}

std::optional<LastValues::Change> LastValues::see(const abi::Record& access) {
    const std::uint64_t place = abi::physical_address(access) << 8 | abi::access_size(access);
    const bool known = (access.flags & abi::flag_value_unknown) == 0;
    Last& last = values_.of(place);
    if (values_.is_rest(last)) {
        ++left_out_;
        return std::nullopt;
    }
    if (std::exchange(last.seen, true) && known && last.value == access.value) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> now = known ? std::optional(access.value) : std::nullopt;
    const std::optional<std::uint64_t> before = std::exchange(last.value, now);
    return Change{known ? before : std::nullopt};
}

} // namespace mmioscope::analysis
