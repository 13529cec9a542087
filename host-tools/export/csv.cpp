#include "export/csv.hpp"

#include "export/columns.hpp"

#include <iterator>

namespace mmioscope::exporting {

namespace {

using Text = fmt::memory_buffer;

struct Append {
    Text& to;

    void operator()(std::monostate) const {}
    void operator()(std::uint64_t number) const {
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        fmt::format_to(std::back_inserter(to), "{:#x}", number.value);
    }
    void operator()(std::string_view text) const {
        if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
            to.append(text);
            return;
        }
        to.push_back('"');
        for (const char c : text) {
            to.push_back(c);
            if (c == '"') {
                to.push_back('"');
            }
        }
        to.push_back('"');
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

} // namespace

void append_csv(Text& to, const Event& event, std::uint32_t frequency) {
    bool first = true;
    for (const Column& column : columns()) {
        if (!first) {
            to.push_back(',');
        }
        first = false;
        std::visit(Append{to}, column.cell(event, frequency));
    }
}

void Csv::begin(const trace::TraceReader& reader) {
    frequency_ = reader.info() ? reader.info()->counter_frequency : 0;
    for (const Column& column : columns()) {
        sink_.put(column.name);
        sink_.text().push_back(',');
    }
    sink_.text().resize(sink_.text().size() - 1);
    sink_.text().push_back('\n');
}

void Csv::add(const Event& event) {
    append_csv(sink_.text(), event, frequency_);
    sink_.text().push_back('\n');
    sink_.settle();
}

void Csv::finish() {
    sink_.flush();
}

} // namespace mmioscope::exporting
