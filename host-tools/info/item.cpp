#include "info/item.hpp"

#include "lib/plain_text.hpp"

namespace mmioscope::info {

namespace {

using exporting::Cell;

Cell name_of(const Item& item) {
    return item.name.empty() ? Cell() : Cell(item.name);
}

Cell plain(const Cell& cell) {
    const std::string* const text = std::get_if<std::string>(&cell);
    return text != nullptr ? Cell(printable(*text)) : cell;
}

} // namespace

std::string jsonl_text(const Items& items) {
    fmt::memory_buffer text;
    for (const Item& item : items) {
        text.push_back('{');
        exporting::append_json(text, "about", item.about);
        exporting::append_json(text, "name", name_of(item));
        for (const auto& [property, value] : item.properties) {
            exporting::append_json(text, property, value);
        }
        text.append(std::string_view("}\n"));
    }
    return fmt::to_string(text);
}

std::string csv_text(const Items& items) {
    exporting::Table table{{"about", "name", "property", "value"}, {}};
    for (const Item& item : items) {
        for (const auto& [property, value] : item.properties) {
            if (!std::holds_alternative<std::monostate>(value)) {
                table.rows.push_back({item.about, plain(name_of(item)), property, plain(value)});
            }
        }
    }
    return exporting::csv_text(table);
}

} // namespace mmioscope::info
