#include "export/jsonl.hpp"

#include "export/columns.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "table/json.hpp"

#include <cstring>

namespace mmioscope::exporting {

using table::append_json;

namespace {

using Text = fmt::memory_buffer;

void append_devices(Text& to, const trace::TraceReader& reader) {
    to.append(std::string_view(",\"devices\":["));
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        const abi::RegionEntry& region = reader.regions()[i];
        to.append(std::string_view(i == 0 ? "{" : ",{"));
        append_json(to, "name", reader.names()[static_cast<std::uint16_t>(i)]);
        append_json(to, "path", tree::region_path(region));
        append_json(to, "base", Hex{region.base});
        append_json(to, "size", Hex{region.size});
        to.push_back('}');
    }
    to.push_back(']');
}

} // namespace

void JsonLines::begin(const trace::TraceReader& reader) {
    Rows::begin(reader);
    reader_ = &reader;
    Text& to = sink_.text();
    to.push_back('{');
    append_json(to, "type", std::string_view("trace"));
    append_json(to, "format", std::uint64_t{1});
    if (reader.info()) {
        const abi::Info& info = *reader.info();
        append_json(to, "board",
                    std::string_view(info.board, ::strnlen(info.board, sizeof info.board)));
        append_json(to, "ticks_per_second", std::uint64_t{info.counter_frequency});
        if (reader.knows("cpus")) {
            append_json(to, "cpus", std::uint64_t{info.cpu_count});
        }
    }
    if (reader.policy()) {
        append_json(to, "policy", trace::policy_text(*reader.policy()));
    }
    for (const auto& [key, value] : reader.text()) {
        append_json(to, "text:" + key, std::string_view(value));
    }
    append_devices(to, reader);
    sink_.put("}\n");
}

void JsonLines::finish() {
    Text& to = sink_.text();
    to.push_back('{');
    append_json(to, "type", std::string_view("end"));
    if (reader_->end()) {
        append_json(to, "records", reader_->end()->records);
        append_json(to, "lost", reader_->lost().events());
        if (const auto others = trace::others_cell(reader_->lost()); others.index() != 0) {
            append_json(to, "lost_others", others);
        }
        if (reader_->ending()) {
            append_json(to, "ending", trace::ending_text(*reader_->ending()));
        }
    } else {
        append_json(to, "ending", std::string_view("cut off"));
    }
    sink_.put("}\n");
    Rows::finish();
}

} // namespace mmioscope::exporting
