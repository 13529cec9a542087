#include "export/row_text.hpp"

#include "table/table.hpp"

namespace mmioscope::exporting {

ValueText::ValueText(std::function<std::string(const Event&)> form)
    : form_(std::move(form)), none_(form_(Event())) {}

// With a value of zero the text has "0x0" where other values have their number. A form without
// fields has none.
ValueText::OfContext ValueText::of_context(const Event& event) const {
    OfContext context;
    context.has_fields = event.reg() != nullptr && !event.reg()->fields.empty();
    if (const Field* const lone = lone_field(event)) {
        Event zero = event;
        zero.record.value = 0;
        zero.record.flags = 0;
        zero.record.type = abi::RecordType::access;
        const std::string text = form_(zero);
        if (const std::size_t at = text.rfind("0x0"); at != std::string::npos) {
            context.lone = true;
            context.before = BasicPiece<32>(text.substr(0, at));
            context.after = BasicPiece<32>(text.substr(at + 3));
            context.bits = registers::FieldBits(
                *lone, static_cast<unsigned>(event.offset() - event.reg()->offset));
        }
    }
    return context;
}

namespace {

using Of = Column::Of;

constexpr std::size_t first(std::span<const Column> columns, Of of) {
    return static_cast<std::size_t>(std::ranges::find(columns, of, &Column::of) - columns.begin());
}

/// The columns around sp: those of the context, and sp and va, which mostly stay the same in it.
struct Stack {
    constexpr explicit Stack(std::span<const Column> columns)
        : begin(first(columns, Of::stack)), end(begin) {
        const auto is_part = [&](std::size_t column) {
            return columns[column].of == Of::context || columns[column].of == Of::stack;
        };
        while (is_part(begin - 1)) {
            --begin;
        }
        while (is_part(end)) {
            ++end;
        }
    }
    std::size_t begin, end;
};

constexpr Number nothing(0, false);
constexpr std::size_t most_of_number = 40; ///< includes what surrounds it
constexpr std::size_t events_of_room = 16; ///< number of events to reserve room for at once
constexpr std::size_t most_of_numbers = columns.size() * most_of_number;
static_assert(columns.size() >= ctf_columns.size());

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

// In CTF an unknown number is what the record has.
template <std::size_t bytes>
[[gnu::always_inline]] inline void append_binary(TextCursor& to, std::uint64_t number) {
    using Unsigned = std::conditional_t<
        bytes == 8, std::uint64_t,
        std::conditional_t<bytes == 4, std::uint32_t,
                           std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>;
    to.append_bytes(static_cast<Unsigned>(number));
}

/// CTF's texts cannot have a zero. An empty one becomes "-": babeltrace2 up to 2.0.4 would show the
/// previous text instead.
std::string_view shown(std::string_view text) {
    text = text.substr(0, text.find('\0'));
    return text.empty() ? "-" : text;
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
    : form_(form), columns_(columns_of(form)), cells_(std::move(cells)),
      values_([this](const Event& event) { return text_of(first(columns_, Of::value), event); }),
      interrupts_(
          [this](const Event& event) { return text_of(first(columns_, Of::interrupt), event); }),
      flags_([this](const Event& event) { return text_of(first(columns_, Of::flags), event); }) {}

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

/// Whether an event has no texts of its own.
[[gnu::always_inline]] inline bool is_usual(const Event& event) {
    return event.record.type == abi::RecordType::access && event.context_number != 0 &&
           (event.ids.text == unasked || event.ids.text == no_id) && event.note().empty() &&
           !abi::goes_on(event.record);
}

// Checks the room only now and then: an access has few texts of its own.
template <RowForm form, bool all>
void RowText::append_each(fmt::memory_buffer& to, std::span<const Event> events) {
    TextCursor at = cursor(to, 0);
    const char* room_end = at.at();
    for (const Event& event : events) {
        if (!is_usual(event)) [[unlikely]] {
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
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (form_ != RowForm::ctf || ctf_has(event.record.type, i)) {
            append_cell(to, i, event);
        }
    }
    if (form_ == RowForm::json) {
        to.push_back('}');
    }
}

void RowText::append_cell(fmt::memory_buffer& to, std::size_t column, const Event& event) const {
    if (form_ == RowForm::ctf) {
        const Column& of = columns_[column];
        if (const std::size_t bytes = ctf_members[column].bytes(); bytes > 0) {
            const std::uint64_t number = of.number(event, cells_.context).value;
            to.append(std::string_view(reinterpret_cast<const char*>(&number), bytes));
        } else {
            const Cell cell = of.cell(event);
            to.append(shown(table::text_in(cell)));
            to.push_back('\0');
        }
        return;
    }
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
    const abi::Record& record = event.record;
    return {context, values_.find(event, context.value),
            interrupts_.of(event.interrupt_id(), event),
            flags_.of(record.flags | std::uint32_t{record.access} << 8, event)};
}

inline std::size_t RowText::Texts::size() const {
    return most_of_numbers + context.size + (value != nullptr ? value->size() : 0) +
           interrupt.size() + flags.size();
}

template <RowForm form, bool all>
[[gnu::always_inline]] inline TextCursor RowText::append_access(TextCursor at, const Event& event,
                                                                const Texts& texts) {
    constexpr std::span<const Column> columns = columns_of(form);
    constexpr Stack around_sp(columns);
    char* const brace = at.at();
    at = append_columns<form, all, 0, around_sp.begin>(at, event, texts);
    at.append(texts.context.stack.of(event.record, [&](TextCursor stack) {
        return append_columns<form, all, around_sp.begin, around_sp.end>(stack, event, texts);
    }));
    at = append_columns<form, all, around_sp.end, columns.size()>(at, event, texts);
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
    constexpr std::span<const Column> columns = columns_of(form);
    std::string_view digits; // of the value
    const auto append = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        static constexpr Column column = columns[i]; // what is known of it need not be read
        [[maybe_unused]] const char* const cell = at.at();
        if constexpr (form == RowForm::ctf && !ctf_has(abi::RecordType::access, i)) {
        } else if constexpr (column.of == Of::context) {
            if constexpr (!goes_on(columns, i)) {
                constexpr std::size_t index = text_index(columns, i);
                at.append(texts.context.texts[index]);
            }
        } else if constexpr (column.of == Of::value) {
            if (texts.value != nullptr) {
                at.append(*texts.value);
            } else {
                at = values_.append(at, event, texts.context.value, digits);
            }
        } else if constexpr (column.of == Of::flags) {
            if constexpr (!goes_on(columns, i)) {
                at.append_any(texts.flags);
            }
        } else if constexpr (column.of == Of::interrupt) {
            at.append_any(texts.interrupt);
        } else if constexpr (column.of == Of::text) { // is_usual() has excluded these
            if constexpr (form == RowForm::ctf) {
                at.append('-'), at.append('\0');
            } else {
                append_number<form, i>(at, nothing);
            }
        } else if constexpr (form == RowForm::ctf) {
            append_binary<ctf_members[i].bytes()>(at, column.number(event, cells_.context).value);
        } else {
            if (event.record.type != abi::RecordType::access) {
                __builtin_unreachable(); // saves checks of each column
            }
            const Number number =
                all || cells_.known[i] ? column.number(event, cells_.context) : nothing;
            if (column.of == Of::number || column.unit == Column::Unit::hex || !number.known) {
                append_number<form, i>(at, number);
            } else {
                append_front<form, i>(at);
                at = append_slow<i>(at, event.record, number.value);
            }
            constexpr bool is_value = i + 1 == first(columns, Of::value);
            if (is_value && number.known) {
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

void RowText::append(TextBuffer& to, const Event& event) {
    Event::resolve({&event, 1});
    if (!is_usual(event)) {
        fmt::memory_buffer row;
        append_other(row, event);
        to.append(std::string_view(row.data(), row.size()));
        return;
    }
    const Texts texts = texts_of(event);
    to.end(append_access<RowForm::ctf, true>(to.cursor(texts.size()), event, texts));
}

// As it follows another column.
std::string RowText::text_of(std::size_t first, const Event& event) const {
    fmt::memory_buffer text;
    text.push_back('}');
    append_cell(text, first, event);
    for (std::size_t i = first + 1; i < columns_.size() && goes_on(columns_, i); ++i) {
        append_cell(text, i, event);
    }
    return {text.data() + 1, text.size() - 1};
}

void RowText::make(OfContext& to, const Event& event) const {
    to = {};
    const Stack around_sp(columns_);
    std::size_t stack_size = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].of == Of::context && !goes_on(columns_, i)) {
            Piece& text = to.texts[text_index(columns_, i)];
            text = Piece(text_of(i, event));
            to.size += text.size();
            stack_size += around_sp.begin <= i && i < around_sp.end ? text.size() : 0;
        }
        stack_size += columns_[i].of == Of::stack ? most_of_number : 0;
    }
    to.value = values_.of_context(event);
    to.size += values_.most(to.value);
    to.stack = StackText(stack_size, event.record);
}

std::string csv_titles() {
    std::string titles;
    for (const Column& column : columns) {
        titles.append(titles.empty() ? "" : ",").append(column.column);
    }
    return titles;
}

} // namespace mmioscope::exporting
