#include "export/row_text.hpp"

#include "table/csv.hpp"
#include "table/json.hpp"

#include <utility>

namespace mmioscope::exporting {

namespace {

// So much is kept, of what was seen last.
constexpr std::size_t contexts = 1024;
constexpr std::size_t values = 1024;
constexpr std::size_t flags = 64;

} // namespace

RowText::RowText(RowForm form, std::vector<Column> columns, std::uint32_t frequency)
    : form_(form), columns_(std::move(columns)), frequency_(frequency), contexts_(contexts),
      values_(values), flags_(flags) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (runs_.empty() || runs_.back().of != columns_[i].of) {
            runs_.push_back({columns_[i].of, i, i});
        }
        ++runs_.back().end;
    }
}

// Contexts are of accesses; an access without a value has no fields.
void RowText::append(fmt::memory_buffer& to, const Event& event) {
    const bool kept = event.record.type == abi::RecordType::access && event.context() != 0;
    const bool valued = kept && (event.record.flags & abi::flag_value_unknown) == 0;
    const OfContext* const context = kept ? &of_context(event) : nullptr;
    std::size_t next = 0; // of the context's texts
    if (form_ == RowForm::json) {
        to.push_back('{');
    }
    for (const Run& run : runs_) {
        if (run.of == Column::Of::context && context != nullptr) {
            to.append(context->texts[next++]);
        } else if (run.of == Column::Of::value && valued) {
            to.append(of_value(run, event));
        } else if (run.of == Column::Of::flags) {
            to.append(of_flags(run, event));
        } else {
            append_run(to, run, event);
        }
    }
    if (form_ == RowForm::json) {
        to.push_back('}');
    }
}

void RowText::forget() {
    values_.assign(values, OfValue());
}

void RowText::append_run(fmt::memory_buffer& to, const Run& run, const Event& event) const {
    for (std::size_t i = run.first; i < run.end; ++i) {
        if (form_ == RowForm::json) {
            table::append_json(to, columns_[i].name, columns_[i].cell(event, frequency_));
            continue;
        }
        if (i > 0) {
            to.push_back(',');
        }
        table::append_csv(to, columns_[i].cell(event, frequency_));
    }
}

// As it stands behind something else.
std::string RowText::text_of(const Run& run, const Event& event) const {
    fmt::memory_buffer text;
    text.push_back('}');
    append_run(text, run, event);
    return {text.data() + 1, text.size() - 1};
}

const RowText::OfContext& RowText::of_context(const Event& event) {
    OfContext& slot = contexts_[event.context() % contexts];
    if (slot.context != event.context()) {
        slot.context = event.context();
        slot.texts.clear();
        for (const Run& run : runs_) {
            if (run.of == Column::Of::context) {
                slot.texts.push_back(text_of(run, event));
            }
        }
    }
    return slot;
}

const std::string& RowText::of_value(const Run& run, const Event& event) {
    const Id place = event.place_id();
    const std::uint64_t value = event.record.value;
    const std::uint64_t hash = (value ^ std::uint64_t{place} << 32) * 0x9e37'79b9'7f4a'7c15;
    OfValue& slot = values_[(hash >> 40) % values];
    if (slot.place != place || slot.value != value) {
        slot = {place, value, text_of(run, event)};
    }
    return slot.text;
}

const std::string& RowText::of_flags(const Run& run, const Event& event) {
    const std::uint32_t bits = event.record.flags | std::uint32_t{event.record.access} << 8;
    OfFlags& slot = flags_[(bits ^ bits >> 8) % flags];
    if (slot.flags != bits) {
        slot = {bits, text_of(run, event)};
    }
    return slot.text;
}

} // namespace mmioscope::exporting
