#include "table/json.hpp"

#include "system/escape.hpp"
#include "table/csv.hpp"

#include <iterator>

namespace mmioscope::table {

namespace {

void append_key(fmt::memory_buffer& to, std::string_view key) {
    if (to.data()[to.size() - 1] != '{') { // not the first of its object
        to.push_back(',');
    }
    mmioscope::append_json(to, key);
    to.push_back(':');
}

struct AppendMember {
    fmt::memory_buffer& to;
    std::string_view key;

    void operator()(std::monostate) const {}
    void operator()(bool yes) const {
        append_key(to, key);
        to.append(std::string_view(yes ? "true" : "false"));
    }
    void operator()(std::uint64_t number) const {
        append_key(to, key);
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        append_key(to, key);
        to.push_back('"');
        append_hex(to, number);
        to.push_back('"');
    }
    void operator()(double) const {}
    void operator()(std::string_view text) const {
        append_key(to, key);
        mmioscope::append_json(to, text);
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

} // namespace

void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell) {
    std::visit(AppendMember{to, key}, cell);
}

std::string jsonl(std::span<const Table> tables) {
    std::string all;
    jsonl(tables, [&all](std::string_view piece) { all += piece; });
    return all;
}

void jsonl(std::span<const Table> tables, const Write& write) {
    fmt::memory_buffer text;
    for (const Table& table : tables) {
        each_row(table, [&](const Row& row) {
            text.push_back('{');
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (!table.columns[i].name.empty()) {
                    append_json(text, table.columns[i].name, row[i]);
                }
            }
            text.append(std::string_view("}\n"));
            write({text.data(), text.size()});
            text.clear();
        });
    }
}

} // namespace mmioscope::table
