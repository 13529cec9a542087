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

// The columns around sp: those of the context, and what is mostly the same in it.
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

constexpr std::size_t most_of_numbers = columns.size() * 40; ///< and of what stands around them

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
[[gnu::always_inline]] inline void append_front(TextCursor& to) {
    static constexpr Front in_front = front<form>(column);
    to.append(in_front.text, in_front.size);
}

template <RowForm form, std::size_t column>
[[gnu::always_inline]] inline void append_number(TextCursor& to, const Number& number) {
    if (form == RowForm::csv || number.as != Number::As::nothing) {
        append_front<form, column>(to);
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
      values_([this](const Event& event) { return text_of(first(Of::value), event); }),
      flags_([this](const Event& event) { return text_of(first(Of::flags), event); }),
      no_interrupt_(text_of(first(Of::interrupt), Event())) {}

void RowText::append_lines(fmt::memory_buffer& to, std::span<const Event> events) {
    Event::resolve(events);
    form_ == RowForm::json ? append_each<RowForm::json>(to, events)
                           : append_each<RowForm::csv>(to, events);
}

// Room is asked for now and then: an access has few texts of its own.
template <RowForm form>
void RowText::append_each(fmt::memory_buffer& to, std::span<const Event> events) {
    std::size_t room = 0;
    TextCursor at = cursor(to, room);
    const char* begin = at.at();
    for (const Event& event : events) {
        if (event.record.type != abi::RecordType::access || event.context() == 0 ||
            event.text_id() != no_id) [[unlikely]] {
            end(to, at);
            append_other(to, event);
            to.push_back('\n');
            room = 0;
            at = cursor(to, room);
            begin = at.at();
            continue;
        }
        const Texts texts = texts_of(event);
        const std::size_t most = texts.size();
        if (room - static_cast<std::size_t>(at.at() - begin) < most) {
            end(to, at);
            room = most * events.size();
            at = cursor(to, room);
            begin = at.at();
        }
        at = append_access<form>(at, event, texts);
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

inline RowText::Texts RowText::texts_of(const Event& event) {
    OfContext& context = contexts_.of(event.context(), [&](OfContext& kept) { make(kept, event); });
    const Id interrupt = event.interrupt_id();
    return {context, values_.find(event, context.value),
            interrupt == no_id ? no_interrupt_
                               : interrupts_.of({interrupt},
                                                [&](Piece& kept) {
                                                    kept =
                                                        Piece(text_of(first(Of::interrupt), event));
                                                }),
            flags_.of(event)};
}

inline std::size_t RowText::Texts::size() const {
    return most_of_numbers + context.size + (value != nullptr ? value->size() : 0) +
           interrupt.size() + flags.size();
}

template <RowForm form>
[[gnu::always_inline]] inline TextCursor RowText::append_access(TextCursor at, const Event& event,
                                                                const Texts& texts) {
    char* const brace = at.at();
    at = append_columns<form, 0, stack_begin>(at, event, texts);
    at.append(texts.context.stack.of(event.record, [&](TextCursor stack) {
        return append_columns<form, stack_begin, stack_end>(stack, event, texts);
    }));
    at = append_columns<form, stack_end, columns.size()>(at, event, texts);
    if (form == RowForm::json) {
        *brace = '{'; // in place of the first member's comma
        at.append('}');
    }
    return at;
}

template <RowForm form, std::size_t from, std::size_t to>
[[gnu::always_inline]] inline TextCursor RowText::append_columns(TextCursor at, const Event& event,
                                                                 const Texts& texts) {
    const auto append = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if constexpr (columns[i].of == Of::context) {
            if constexpr (!goes_on(i)) {
                at.append(texts.context.texts[text_index(i)]);
            }
        } else if constexpr (columns[i].of == Of::value) {
            if (texts.value != nullptr) {
                at.append(*texts.value);
            } else {
                at = ValueText::append(at, event, texts.context.value);
            }
        } else if constexpr (columns[i].of == Of::flags) {
            at.append(texts.flags);
        } else if constexpr (columns[i].of == Of::interrupt) {
            at.append(texts.interrupt);
        } else if constexpr (columns[i].of == Of::text) { // append_each() has seen to that
            append_number<form, i>(at, Number());
        } else {
            if (event.record.type != abi::RecordType::access) {
                __builtin_unreachable(); // which spares asking for each column again
            }
            const Number number = known_[i] ? columns[i].number_of(event, frequency_) : Number();
            if (columns[i].of == Of::time && number.as == Number::As::decimal) {
                append_front<form, i>(at);
                at = times_[i].append(at, number.value);
            } else {
                append_number<form, i>(at, number);
            }
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (append(std::integral_constant<std::size_t, from + i>()), ...);
    }
    (std::make_index_sequence<to - from>());
    return at;
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
    to.stack = StackText(to.size + most_of_numbers, event.record);
}

} // namespace mmioscope::exporting
