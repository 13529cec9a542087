#include "export/row_text.hpp"

#include "table/csv.hpp"
#include "table/json.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mmioscope::exporting {

namespace {

using Of = Column::Of;

constexpr std::size_t first(Of of) {
    return static_cast<std::size_t>(std::ranges::find(columns, of, &Column::of) - columns.begin());
}

/// The fields of the value follow it immediately.
constexpr std::size_t value_column = first(Of::value) - 1;
static_assert(columns[value_column].column == "value");

// The columns around sp: those of the context, and sp and va, which mostly stay the same in it.
constexpr bool is_of_stack(std::size_t column) {
    return columns[column].of == Of::context || columns[column].of == Of::stack;
}
constexpr std::size_t stack_begin = [] {
    std::size_t column = first(Of::stack);
    while (is_of_stack(column - 1)) {
        --column;
    }
    return column;
}();
constexpr std::size_t stack_end = [] {
    std::size_t column = first(Of::stack);
    while (is_of_stack(column)) {
        ++column;
    }
    return column;
}();

constexpr Number nothing(0, false);
constexpr std::size_t most_of_number = 40; ///< includes what surrounds it
constexpr std::size_t events_of_room = 16; ///< number of events to reserve room for at once
constexpr std::size_t most_of_numbers = columns.size() * most_of_number;

/// The text before a column's cell. In JSON, a comma even before the first.
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
        put(",\""), put(columns.at(column).column), put("\":");
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
[[gnu::always_inline]] inline void append_front(TextCursor& to) {
    static constexpr Front in_front = front<form>(column);
    if constexpr (in_front.size == 1) {
        to.append(in_front.text.front());
    } else {
        to.append(in_front.text, in_front.size);
    }
}

template <RowForm form, std::size_t column>
[[gnu::always_inline]] inline void append_number(TextCursor& to, const Number& number) {
    if (form == RowForm::csv || number.known) {
        append_front<form, column>(to);
    }
    if (number.known && columns[column].unit != Column::Unit::hex) {
        to.decimal(number.value);
    } else if (number.known) {
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

RowText::RowText(RowForm form, Cells cells)
    : form_(form), cells_(std::move(cells)),
      values_([this](const Event& event) { return text_of(first(Of::value), event); }),
      interrupts_([this](const Event& event) { return text_of(first(Of::interrupt), event); }),
      flags_([this](const Event& event) { return text_of(first(Of::flags), event); }) {}

void RowText::append_lines(fmt::memory_buffer& to, std::span<const Event> events) {
    Event::resolve(events);
    if (form_ == RowForm::json) {
        cells_.known.all() ? append_each<RowForm::json, true>(to, events)
                           : append_each<RowForm::json, false>(to, events);
    } else {
        cells_.known.all() ? append_each<RowForm::csv, true>(to, events)
                           : append_each<RowForm::csv, false>(to, events);
    }
}

// Checks the room only now and then: an access has few texts of its own.
template <RowForm form, bool all>
void RowText::append_each(fmt::memory_buffer& to, std::span<const Event> events) {
    TextCursor at = cursor(to, 0);
    const char* room_end = at.at();
    for (const Event& event : events) {
        const bool has_text =
            (event.ids.text != unasked && event.ids.text != no_id) || !event.note().empty();
        if (event.record.type != abi::RecordType::access || event.context_number == 0 || has_text ||
            abi::goes_on(event.record)) [[unlikely]] {
            end(to, at);
            append_other(to, event);
            to.push_back('\n');
            at = cursor(to, 0);
            room_end = at.at();
            continue;
        }
        const Texts texts = texts_of(event);
        const std::size_t most = texts.size();
        if (static_cast<std::size_t>(room_end - at.at()) < most) {
            end(to, at);
            at = cursor(to, most * events_of_room);
            room_end = at.at() + most * events_of_room;
        }
        at = append_access<form, all>(at, event, texts);
        at.append('\n');
    }
    end(to, at);
}

void RowText::append_other(fmt::memory_buffer& to, const Event& event) const {
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
    const Cell cell = cells_.of(column, event);
    if (form_ == RowForm::json) {
        table::append_json(to, columns[column].column, cell);
        return;
    }
    if (column > 0) {
        to.push_back(',');
    }
    table::append_csv(to, cell);
}

[[gnu::always_inline]] inline RowText::Texts RowText::texts_of(const Event& event) {
    OfContext& context =
        contexts_.of(event.context_number, [&](OfContext& kept) { make(kept, event); });
    return {context, values_.find(event, context.value), interrupts_.of(event), flags_.of(event)};
}

inline std::size_t RowText::Texts::size() const {
    return most_of_numbers + context.size + (value != nullptr ? value->size() : 0) +
           interrupt.size() + flags.size();
}

template <RowForm form, bool all>
[[gnu::always_inline]] inline TextCursor RowText::append_access(TextCursor at, const Event& event,
                                                                const Texts& texts) {
    char* const brace = at.at();
    at = append_columns<form, all, 0, stack_begin>(at, event, texts);
    at.append(texts.context.stack.of(event.record, [&](TextCursor stack) {
        return append_columns<form, all, stack_begin, stack_end>(stack, event, texts);
    }));
    at = append_columns<form, all, stack_end, columns.size()>(at, event, texts);
    if (form == RowForm::json) {
        *brace = '{'; // replaces the comma of the first member
        at.append('}');
    }
    return at;
}

template <std::size_t column>
[[gnu::always_inline]] inline TextCursor
RowText::append_slow(TextCursor at, const abi::Record& record, std::uint64_t number) {
    switch (columns[column].of) {
    case Of::of_cpu:
        return of_cpu_[record.cpu % of_cpu_.size()].append(at, static_cast<std::uint32_t>(number));
    case Of::of_device:
        return of_device_[record.device % of_device_.size()].append(
            at, static_cast<std::uint32_t>(number));
    default: return times_[column].append(at, number);
    }
}

template <RowForm form, bool all, std::size_t from, std::size_t to>
[[gnu::always_inline]] inline TextCursor RowText::append_columns(TextCursor at, const Event& event,
                                                                 const Texts& texts) {
    std::string_view digits; // of the value
    const auto append = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        [[maybe_unused]] const char* const cell = at.at();
        if constexpr (columns[i].of == Of::context) {
            if constexpr (!goes_on(i)) {
                at.append(texts.context.texts[text_index(i)]);
            }
        } else if constexpr (columns[i].of == Of::value) {
            if (texts.value != nullptr) {
                at.append(*texts.value);
            } else {
                at = values_.append(at, event, texts.context.value, digits);
            }
        } else if constexpr (columns[i].of == Of::flags) {
            if constexpr (!goes_on(i)) {
                at.append_any(texts.flags);
            }
        } else if constexpr (columns[i].of == Of::interrupt) {
            at.append_any(texts.interrupt);
        } else if constexpr (columns[i].of == Of::text) { // append_each() has excluded these
            append_number<form, i>(at, nothing);
        } else {
            if (event.record.type != abi::RecordType::access) {
                __builtin_unreachable(); // saves checks of each column
            }
            const Number number =
                all || cells_.known[i] ? columns[i].number(event, cells_.context) : nothing;
            if (columns[i].of == Of::number || columns[i].unit == Column::Unit::hex ||
                !number.known) {
                append_number<form, i>(at, number);
            } else {
                append_front<form, i>(at);
                at = append_slow<i>(at, event.record, number.value);
            }
            if (i == value_column && number.known) {
                constexpr std::size_t quote = form == RowForm::json ? 1 : 0;
                constexpr std::size_t in_front = front<form>(i).size + quote;
                digits = {cell + in_front, at.at() - quote};
            }
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (append(std::integral_constant<std::size_t, from + i>()), ...);
    }
    (std::make_index_sequence<to - from>());
    return at;
}

// As it follows another column.
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
    std::size_t stack_size = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].of == Of::context && !goes_on(i)) {
            Piece& text = to.texts[text_index(i)];
            text = Piece(text_of(i, event));
            to.size += text.size();
            stack_size += stack_begin <= i && i < stack_end ? text.size() : 0;
        }
        stack_size += columns[i].of == Of::stack ? most_of_number : 0;
    }
    to.value = values_.of_context(event);
    to.size += values_.most(to.value);
    to.stack = StackText(stack_size, event.record);
}

} // namespace mmioscope::exporting
