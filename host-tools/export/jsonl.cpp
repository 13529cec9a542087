#include "export/jsonl.hpp"

#include "export/columns.hpp"
#include "export/json_text.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"

#include <cstring>
#include <iterator>

namespace mmioscope::exporting {

namespace {

using Text = fmt::memory_buffer;

void append_key(Text& to, std::string_view key) {
    if (to.data()[to.size() - 1] != '{') { // not the first of its object
        to.push_back(',');
    }
    to.push_back('"');
    to.append(key);
    to.append(std::string_view("\":"));
}

struct Append {
    Text& to;
    std::string_view key;

    void operator()(std::monostate) const {}
    void operator()(std::uint64_t number) const {
        append_key(to, key);
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        append_key(to, key);
        fmt::format_to(std::back_inserter(to), "\"{:#x}\"", number.value);
    }
    void operator()(std::string_view text) const {
        append_key(to, key);
        append_json(to, text);
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

void append_devices(Text& to, const trace::TraceReader& reader) {
    append_key(to, "devices");
    to.push_back('[');
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        const abi::RegionEntry& region = reader.regions()[i];
        to.append(std::string_view(i == 0 ? "{" : ",{"));
        Append{to, "name"}(reader.names()[static_cast<std::uint16_t>(i)]);
        Append{to, "path"}(trace::region_path(region));
        Append{to, "base"}(Hex{region.base});
        Append{to, "size"}(Hex{region.size});
        to.push_back('}');
    }
    to.push_back(']');
}

std::string_view board_of(const abi::Info& info) {
    return {info.board, ::strnlen(info.board, sizeof info.board)};
}

} // namespace

void append_json(Text& to, const Event& event, std::uint32_t frequency) {
    to.push_back('{');
    for (const Column& column : columns()) {
        std::visit(
            [&](const auto& cell) {
                Append{to, column.name}(cell);
            },
            column.cell(event, frequency));
    }
    to.push_back('}');
}

void JsonLines::begin(const trace::TraceReader& reader) {
    reader_ = &reader;
    Text& to = sink_.text();
    to.push_back('{');
    Append{to, "type"}(std::string_view("trace"));
    Append{to, "format"}(std::uint64_t{1});
    if (reader.info()) {
        const abi::Info& info = *reader.info();
        frequency_ = info.counter_frequency;
        Append{to, "board"}(board_of(info));
        Append{to, "ticks_per_second"}(std::uint64_t{frequency_});
        Append{to, "cpus"}(std::uint64_t{info.cpu_count});
        Append{to, "policy"}(trace::policy_text(info.policy));
    }
    for (const auto& [key, value] : reader.text()) {
        Append{to, "text:" + key}(std::string_view(value));
    }
    append_devices(to, reader);
    sink_.put("}\n");
}

void JsonLines::add(const Event& event) {
    append_json(sink_.text(), event, frequency_);
    sink_.text().push_back('\n');
    sink_.settle();
}

void JsonLines::finish() {
    Text& to = sink_.text();
    to.push_back('{');
    Append{to, "type"}(std::string_view("end"));
    if (reader_->end()) {
        Append{to, "records"}(reader_->end()->records);
        Append{to, "lost"}(reader_->end()->lost);
        Append{to, "ending"}(trace::ending_text(reader_->end()->ending));
    } else {
        Append{to, "ending"}(std::string_view("cut off"));
    }
    sink_.put("}\n");
    sink_.flush();
}

} // namespace mmioscope::exporting
