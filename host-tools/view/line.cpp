#include "view/line.hpp"

#include "records/kinds.hpp"
#include "records/ticks.hpp"
#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace mmioscope::view {

namespace {

using abi::Record;
using abi::RecordType;

std::string power_text(const Record& record) {
    const auto cpu = static_cast<unsigned>(record.value & 0xff);
    const auto event = static_cast<abi::PowerEvent>(record.value >> 8);
    const char* what = event == abi::PowerEvent::cpu_on         ? "cpu {} started at {:#x}"
                       : event == abi::PowerEvent::cpu_off      ? "cpu {} switched off at pc {:#x}"
                       : event == abi::PowerEvent::system_off   ? "machine off, cpu {} pc {:#x}"
                       : event == abi::PowerEvent::system_reset ? "machine reset, cpu {} pc {:#x}"
                                                                : "cpu {} power event at {:#x}";
    return fmt::format(fmt::runtime(what), cpu, abi::physical_address(record));
}

/// The function; an instruction inside one has its offset.
std::string called_text(const LineStyle& style, const Event& event) {
    const Location* const code = style.raw ? nullptr : event.code();
    if (!style.pc) {
        return "";
    }
    return code == nullptr     ? fmt::format("{:#x}", event.record.pc)
           : code->offset == 0 ? function_text(*code)
                               : code_text(*code);
}
std::string caller_text(const LineStyle& style, const Event& event) {
    const bool known = style.pc && !style.raw && event.caller() != nullptr;
    return known ? " <- " + code_text(*event.caller()) : "";
}

// Characters may be wide if it is not plain ASCII.
std::string padded(std::string_view text, std::size_t width) {
    if (std::ranges::any_of(text, [](char c) { return (c & 0x80) != 0; })) {
        return fmt::format("{:<{}}", text, width);
    }
    return std::string(text).append(width - std::min(width, text.size()), ' ');
}

} // namespace

constexpr std::size_t time_width = 12;

LineFormat::LineFormat(const LineStyle& style)
    : style_(style),
      fitted_(style.width == SIZE_MAX ? std::nullopt : std::optional<FittedLine>(style)),
      chosen_(style.columns.empty() ? std::nullopt : std::optional<ColumnLine>(style)),
      quick_(!fitted_ && !chosen_ && style.frequency != 0 && style.time == TimeStyle::relative &&
             !style.duration),
      fields_width_(shows_names(style) ? fields_width : 0), contexts_(!style.raw), raw_(style.raw),
      values_(!style.raw) {}

bool LineFormat::fit(std::size_t width) {
    if (!fitted_ || width == style_.width || width == SIZE_MAX) {
        return false;
    }
    style_.width = width;
    fitted_.emplace(style_);
    if (chosen_) {
        chosen_.emplace(style_);
    }
    return true;
}

std::string LineFormat::titles() const {
    if (chosen_ || fitted_) {
        return chosen_ ? chosen_->titles() : fitted_->titles();
    }
    const bool named = shows_names(style_);
    return fmt::format("{:>12} {:<4} {:<2} {:<{}} {:<{}} {:<10}{:<{}}{}", "seconds", "cpu", "rw",
                       "device", style_.device_width, named ? "register" : "offset",
                       place_width(style_), "value", named ? " fields" : "",
                       named ? fields_width + 1 : 0,
                       !style_.pc ? ""
                       : named    ? " function <- caller [task]"
                                  : " pc");
}

void LineFormat::append_time(TextBuffer& to, std::int64_t nanoseconds, std::uint64_t ticks) {
    const std::int64_t before = std::exchange(before_, nanoseconds).value_or(nanoseconds);
    const std::int64_t shown = style_.time == TimeStyle::delta ? nanoseconds - before : nanoseconds;
    const bool absolute = style_.time == TimeStyle::absolute;
    if (style_.frequency == 0) {
        to.append(fmt::format("{:>{}}",
                              absolute ? fmt::format("{}t", ticks) : fmt::format("{}t", shown),
                              time_width));
        return;
    }
    const auto micros = static_cast<std::uint64_t>(std::llabs(shown)) / 1000;
    const trace::Seconds time =
        absolute ? trace::seconds(ticks, style_.frequency) : trace::seconds(micros, 1'000'000);
    const bool negative = !absolute && shown < 0;
    to.append(fmt::format("{:>{}}.", fmt::format("{}{}", negative ? "-" : "", time.seconds),
                          time_width - 7));
    to.six_digits(static_cast<std::uint32_t>(time.micros));
}

void LineFormat::append_colored(TextBuffer& to, std::string_view color,
                                std::string_view text) const {
    if (style_.color) {
        to.append(colored(style_, color, text));
    } else {
        to.append(text);
    }
}

// A begin record's text differs from that of its access in the same context.
template <bool raw>
[[gnu::always_inline]] inline const LineFormat::ContextText&
LineFormat::context_text(const Event& event) {
    const Record& record = event.record;
    if (record.type == RecordType::access) {
        if (raw) {
            if (event.place_id() != no_id) {
                return raw_.of({event.ids.place, record},
                               [&](ContextText& kept) { make(kept, event); });
            }
        } else if (const std::uint64_t context = event.context(); context != 0) {
            return contexts_.of(context, [&](ContextText& kept) { make(kept, event); });
        }
    }
    make(other_context_, event);
    return other_context_;
}

const LineFormat::ContextText& LineFormat::context_text(const Event& event) {
    return style_.raw ? context_text<true>(event) : context_text<false>(event);
}

constexpr char cpu_texts[][8] = {" cpu0 ", " cpu1 ", " cpu2 ", " cpu3 ", " cpu4 ",
                                 " cpu5 ", " cpu6 ", " cpu7 ", " cpu8 ", " cpu9 "};

// False: it does not fit.
bool LineFormat::begin_millisecond(std::uint64_t nanoseconds) {
    const std::uint64_t millis = nanoseconds / 1'000'000;
    if (millis >= 100'000'000) { // limit: 5 digits of seconds
        return false;
    }
    if (millis / 1000 != millis_begin_ / 1'000'000'000) {
        fmt::format_to(millis_text_.begin(), "{:>5}.", millis / 1000);
    }
    millis_begin_ = millis * 1'000'000;
    TextCursor(&millis_text_[6]).three_digits(static_cast<std::uint32_t>(millis % 1000));
    return true;
}

// The usual line: an access in the order of time, with short texts. False: it is not one.
template <bool raw>
[[gnu::always_inline]] inline bool LineFormat::append_quickly(TextCursor& to, const Event& event) {
    const Record& record = event.record;
    constexpr std::uint8_t unusual = abi::flag_value_unknown | abi::flag_payload;
    if (record.type != RecordType::access || record.cpu >= std::size(cpu_texts) ||
        (record.flags & unusual) != 0) {
        return false;
    }
    const ContextText& text = context_text<raw>(event);
    const FieldsText* fields = nullptr;
    if (!raw && (text.has_fields || event.interrupt_id() != no_id)) {
        fields = &value_text(event);
    }
    if (!text.is_short || (record.value & text.beyond) != 0 ||
        (fields != nullptr && !fields->is_short())) {
        return false; // hostile or long
    }
    if (event.nanoseconds - millis_begin_ >= 1'000'000 && !begin_millisecond(event.nanoseconds))
        [[unlikely]] {
        return false;
    }
    TextCursor line = to;
    line.append(millis_text_, 9);
    line.three_digits(static_cast<std::uint32_t>(event.nanoseconds - millis_begin_) / 1000);
    line.append(cpu_texts[record.cpu], 6);
    line.append(text.place);
    line.append(' ');
    if (text.digits == 8) {
        line.hex8(static_cast<std::uint32_t>(record.value));
    } else {
        line.hex(record.value, text.digits);
        line.pad_to(10, 2 + text.digits);
    }
    if (!raw && (fields_width_ > 0 || fields != nullptr)) {
        line.append(' ');
        if (fields != nullptr) {
            line.append(*fields);
        }
        line.pad_to(fields_width_, fields != nullptr ? fields->size() : 0);
    }
    line.append(text.code);
    line.append('\n');
    to = line;
    return true;
}

template <bool raw>
std::size_t LineFormat::append_quickly(TextBuffer& to, std::span<const Event> events) {
    constexpr std::size_t longest = 512;
    TextCursor line = to.cursor(events.size() * longest);
    std::size_t count = 0;
    while (count < events.size() && append_quickly<raw>(line, events[count])) {
        ++count;
    }
    to.end(line);
    return count;
}

std::size_t LineFormat::append_lines(TextBuffer& to, std::span<const Event> events) {
    if (!quick_ || events.empty() || !events.front().names->notes().empty()) {
        return 0;
    }
    if (style_.raw) {
        Event::resolve_places(events);
        return append_quickly<true>(to, events);
    }
    Event::resolve(events);
    return append_quickly<false>(to, events);
}

void LineFormat::make(ContextText& text, const Event& event) {
    const Place& place = event.place();
    const bool write = abi::is_write(event.record);
    text.place = BasicPiece<64>(
        colored(style_, write ? color::write : color::read, direction_text(event.record)) + ' ' +
        padded(place.device, style_.device_width) + ' ' +
        padded(register_or_offset(style_, event), place_width(style_)));
    text.has_fields = !style_.raw && place.reg != nullptr && registers::says_anything(*place.reg);
    text.code = BasicPiece<112>(code_of(style_, event) + task_of(style_, event));
    text.digits = std::min(abi::access_size(event.record), 8u) * 2;
    text.beyond = ~std::uint64_t{0} << 4 << (4 * (text.digits - 1));
    text.is_short = text.place.is_short() && text.code.is_short() &&
                    text.digits == abi::access_size(event.record) * 2;
}

void LineFormat::append_value(TextBuffer& to, const Event& event) {
    constexpr std::size_t width = 10;
    to.append(' ');
    const unsigned digits = std::min(abi::access_size(event.record), 8u) * 2;
    if (!value_known(event)) {
        to.append('?');
        to.pad_to(width, 1);
    } else if (event.record.value >> (4 * (digits - 1)) >> 4 != 0) { // hostile: beyond its size
        const std::size_t before = to.size();
        to.hex(event.record.value);
        to.pad_to(width, to.size() - before);
    } else {
        to.hex(event.record.value, digits);
        to.pad_to(width, 2 + digits);
    }
}

const LineFormat::FieldsText& LineFormat::value_text(const Event& event) {
    if (event.record.type == RecordType::access && event.carried_out_id == no_id) {
        return values_.of({event.place_id(), event.record.value},
                          [&](FieldsText& kept) { make(kept, event); });
    }
    make(other_value_, event);
    return other_value_;
}

void LineFormat::make(FieldsText& to, const Event& event) {
    to = FieldsText(meaning_text(event));
}

void LineFormat::append_fields(TextBuffer& to, const Event& event, const ContextText& context) {
    static const FieldsText none;
    const bool may_say =
        !style_.raw && value_known(event) && (context.has_fields || event.interrupt_id() != no_id);
    const FieldsText& text = may_say ? value_text(event) : none;
    if (fields_width_ > 0 || text.size() > 0) {
        to.append(' ');
        to.append(text);
        to.pad_to(fields_width_, text.size());
    }
}

void LineFormat::append_access(TextBuffer& to, const Event& event) {
    const ContextText& text = context_text(event);
    to.append(text.place);
    append_value(to, event);
    append_fields(to, event, text);
    to.append(text.code);
}

// Appends records that are not a guest's successful access.
void LineFormat::append_rest(TextBuffer& to, const Event& event) {
    const Record& record = event.record;
    switch (record.type) {
    case RecordType::fault:
        to.append(context_text(event).place);
        append_colored(to, color::bad, fmt::format(" {},", event.text()));
        to.append(other_context_.code);
        return;
    case RecordType::move:
        to.append(context_text(event).place);
        to.append(fmt::format(" {},", event.text()));
        to.append(other_context_.code);
        return;
    case RecordType::own:
        to.append(context_text(event).place);
        append_value(to, event);
        to.append(std::string_view(" by the hypervisor"));
        return;
    case RecordType::begin:
        append_access(to, event);
        if (style_.raw || event.task_id() == no_id) {
            to.append(fmt::format(" task {:#x}", record.task));
        }
        append_colored(to, color::bad, fmt::format(" {}", begun_text(style_)));
        return;
    default:
        append_access(to, event);
        to.append(fmt::format(" ({})", trace::type_word(record.type)));
        return;
    }
}

void LineFormat::append(TextBuffer& to, const Event& event) {
    append(to, event, {});
}

void LineFormat::append_time(TextBuffer& to, const Event& event) {
    append_time(to, static_cast<std::int64_t>(event.nanoseconds), event.record.time);
    to.append(std::string_view(" cpu"));
    to.decimal(event.record.cpu);
    to.append(' ');
}

void LineFormat::append(TextBuffer& to, const Event& event, std::string_view more,
                        std::optional<std::uint64_t> before) {
    std::string noted;
    if (const std::string_view note = event.note(); !note.empty()) {
        noted = fmt::format("{}{}# {}", more, more.empty() ? "" : "  ", note);
        more = noted;
    }
    if (chosen_ && ColumnLine::has(event)) {
        TextBuffer time;
        append_time(time, static_cast<std::int64_t>(event.nanoseconds), event.record.time);
        chosen_->append(to, time.view(), event, more, before);
        return;
    }
    append_time(to, event);
    append_words(to, event, more);
}

void LineFormat::append_words(TextBuffer& to, const Event& event, std::string_view more) {
    const Record& record = event.record;
    const bool has_place = trace::has_place(record.type);
    if (fitted_ && has_place) {
        fitted_->append(to, event, more);
        return;
    }
    if (fitted_) {
        TextBuffer words;
        append_event(words, event);
        fitted_->append_wrapped(to, words.view(), FittedLine::words_column);
    } else {
        append_event(to, event);
    }
    if (style_.duration && has_place && record.type != RecordType::begin) {
        to.append(' ');
        to.append(duration_text(style_, record));
    }
    if (!more.empty()) {
        to.append(std::string_view("  "));
        to.append(more);
    }
}

void LineFormat::append_note(TextBuffer& to, std::string_view words) const {
    to.append(' ');
    if (fitted_) {
        fitted_->append_wrapped(to, words, time_width + 1);
    } else {
        to.append(words);
    }
}

void LineFormat::append_event(TextBuffer& to, const Event& event) {
    const Record& record = event.record;
    switch (record.type) {
    case RecordType::access: append_access(to, event); return;
    case RecordType::gap:
        append_colored(
            to, color::bad,
            fmt::format("{} records lost, from number {} on", record.value, record.cpu_sequence));
        return;
    case RecordType::power: to.append(power_text(record)); return;
    case RecordType::call:
        to.append(fmt::format("call {}{}{}{}", called_text(style_, event), event.text(),
                              caller_text(style_, event), task_of(style_, event)));
        return;
    case RecordType::ret: {
        const bool known = record.pc != record.lr && style_.pc;
        to.append(fmt::format("ret {} = {}{}{}{}", known ? called_text(style_, event) : "?",
                              event.text(),
                              known ? "  " + duration_text(style_, record) : std::string(),
                              caller_text(style_, event), task_of(style_, event)));
        return;
    }
    case RecordType::hits:
        to.append(fmt::format("hits {} {}", called_text(style_, event), event.text()));
        return;
    case RecordType::marker:
        append_colored(to, color::mark, fmt::format("mark {}", event.text()));
        return;
    case RecordType::configuration: // the region of a command, or its result
        to.append(fmt::format("change {}", event.text()));
        if (record.device != abi::no_device) {
            to.append(fmt::format(" {}", event.device()));
        }
        return;
    case RecordType::interrupt:
        to.append(fmt::format("{} {}", trace::type_word(record.type), record.value));
        if (!event.interrupt().empty()) {
            to.append(fmt::format(" {}", event.interrupt()));
        }
        return;
    default:
        if (event.text_id() != no_id && !trace::has_place(record.type)) {
            to.append(fmt::format("{} {}", trace::type_word(record.type), event.text()));
        } else {
            append_rest(to, event);
        }
        return;
    }
}

} // namespace mmioscope::view
