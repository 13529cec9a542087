#include "export/row_text.hpp"

#include "table/csv.hpp"
#include "table/json.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mmioscope::exporting {

namespace {

using Of = Column::Of;

constexpr std::size_t value_column =
    static_cast<std::size_t>(std::ranges::find(columns, Of::value, &Column::of) - columns.begin());
constexpr std::size_t flags_column =
    static_cast<std::size_t>(std::ranges::find(columns, Of::flags, &Column::of) - columns.begin());

/// What stands in front of a column's cell. In JSON a comma also in front of the first.
struct Front {
    std::array<char, 16> text{};
    std::size_t size = 0;
};

template <RowForm form>
constexpr Front front(std::size_t column) {
    Front to;
    const auto put = [&to](std::string_view text) {
        for (const char c : text) {
            to.text.at(to.size++) = c;
        }
    };
    if (form == RowForm::json) {
        put(",\""), put(columns.at(column).name), put("\":");
    } else if (column > 0) {
        put(",");
    }
    return to;
}

template <RowForm form>
[[gnu::always_inline]] inline void append_quote(TextCursor& to) {
    if (form == RowForm::json) {
        to.append('"');
    }
}

template <RowForm form, std::size_t column>
[[gnu::always_inline]] inline void append_number(TextCursor& to, const Number& number) {
    static constexpr Front in_front = front<form>(column);
    if (form == RowForm::csv || number.as != Number::As::nothing) {
        to.append(in_front.text, in_front.size);
    }
    if (number.as == Number::As::decimal) {
        to.decimal(number.value);
    } else if (number.as == Number::As::hex) {
        append_quote<form>(to);
        to.hex(number.value);
        append_quote<form>(to);
    }
}

TextCursor cursor(fmt::memory_buffer& to, std::size_t room) {
    to.reserve(to.size() + room + TextCursor::slack);
    return TextCursor(to.data() + to.size());
}

void end(fmt::memory_buffer& to, const TextCursor& at) {
    to.resize(static_cast<std::size_t>(at.at() - to.data()));
}

} // namespace

RowText::RowText(RowForm form, const ColumnSet& known, std::uint32_t frequency)
    : form_(form), known_(known), frequency_(frequency),
      values_([this](const Event& event) { return text_of(value_column, event); }),
      flags_([this](const Event& event) { return text_of(flags_column, event); }) {}

void RowText::append(fmt::memory_buffer& to, const Event& event) {
    if (event.record.type == abi::RecordType::access && event.context() != 0) {
        form_ == RowForm::json ? append_access<RowForm::json>(to, event)
                               : append_access<RowForm::csv>(to, event);
        return;
    }
    if (form_ == RowForm::json) {
        to.push_back('{');
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        append_cell(to, i, event);
    }
    if (form_ == RowForm::json) {
        to.push_back('}');
    }
}

void RowText::append_cell(fmt::memory_buffer& to, std::size_t column, const Event& event) const {
    const Cell cell = known_[column] ? columns[column].cell(event, frequency_) : Cell();
    if (form_ == RowForm::json) {
        table::append_json(to, columns[column].name, cell);
        return;
    }
    if (column > 0) {
        to.push_back(',');
    }
    table::append_csv(to, cell);
}

// Room is asked for once: an access has few texts of its own.
template <RowForm form>
void RowText::append_access(fmt::memory_buffer& to, const Event& event) {
    constexpr std::size_t numbers = columns.size() * 40;
    const OfContext& context =
        contexts_.of(event.context(), [&](OfContext& kept) { make(kept, event); });
    const Piece* const value = values_.find(event, context.value);
    const Piece& flags = flags_.of(event);
    const std::size_t room =
        numbers + context.size + (value != nullptr ? value->size() : 0) + flags.size();
    Event access = event; // what the compiler knows of it stays true while text is written
    access.record.type = abi::RecordType::access;
    const std::size_t begin = to.size();
    TextCursor at = cursor(to, room);
    const auto append = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if constexpr (columns[i].of == Of::context) {
            if constexpr (!goes_on(i)) {
                at.append(context.texts[text_index(i)]);
            }
        } else if constexpr (columns[i].of == Of::value) {
            if (value != nullptr) {
                at.append(*value);
            } else {
                at = ValueText::append(at, event, context.value);
            }
        } else if constexpr (columns[i].of == Of::flags) {
            at.append(flags);
        } else if constexpr (columns[i].of == Of::text) {
            if (columns[i].cell_of(event, frequency_).index() != 0) {
                end(to, at);
                append_cell(to, i, event);
                at = cursor(to, room);
            } else if (form == RowForm::csv) {
                at.append(',');
            }
        } else {
            append_number<form, i>(at,
                                   known_[i] ? columns[i].number_of(access, frequency_) : Number());
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (append(std::integral_constant<std::size_t, i>()), ...);
    }
    (std::make_index_sequence<columns.size()>());
    if (form == RowForm::json) {
        at.append('}');
    }
    end(to, at);
    if (form == RowForm::json) {
        to[begin] = '{'; // in place of the first member's comma
    }
}

// As it stands behind something else.
std::string RowText::text_of(std::size_t first, const Event& event) const {
    fmt::memory_buffer text;
    text.push_back('}');
    append_cell(text, first, event);
    for (std::size_t i = first + 1; i < columns.size() && goes_on(i); ++i) {
        append_cell(text, i, event);
    }
    return {text.data() + 1, text.size() - 1};
}

void RowText::make(OfContext& to, const Event& event) const {
    to = {};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].of == Of::context && !goes_on(i)) {
            Piece& text = to.texts[text_index(i)];
            text = Piece(text_of(i, event));
            to.size += text.size();
        }
    }
    to.value = values_.of_context(event);
    to.size += ValueText::most(to.value);
}

} // namespace mmioscope::exporting
