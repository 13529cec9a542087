#include "view/printer.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

namespace mmioscope::view {

namespace {

// Without a frequency times are in ticks, so there is no window.
std::uint64_t window(const LineStyle& style) {
    return style.frequency == 0 ? 0 : analysis::Collapse::usual_window;
}

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// "38 ms", "1.46 s", as people write it.
std::string gap_text(std::uint64_t nanoseconds) {
    constexpr std::uint64_t milli = 1'000'000;
    constexpr std::uint64_t second = 1000 * milli;
    const std::string time =
        nanoseconds >= second  ? fmt::format("{:.2f} s", static_cast<double>(nanoseconds) / second)
        : nanoseconds >= milli ? fmt::format("{} ms", nanoseconds / milli)
                               : fmt::format("{} us", nanoseconds / 1000);
    return "         ... " + time + " ...";
}

} // namespace

Printer::Printer(std::FILE* out, const PrintOptions& options, const LineStyle& style)
    : out_(out), options_(options), format_(style), collapse_(window(style), lines_of_collapsed_),
      // A person sees each line at once.
      enough_(::isatty(::fileno(out)) != 0 ? 0 : 1 << 15) {
    if (options.changes) {
        values_.emplace();
    }
}

// False: no more lines. `number`: of its event; 0: none.
inline bool Printer::begin_line(std::uint64_t number) {
    if (lines_ >= options_.limit) {
        return false;
    }
    ++lines_;
    start_line(number);
    return true;
}

void Printer::fit(std::size_t width) {
    if (format_.fit(width) && titled_) {
        begin();
    }
}

inline void Printer::start_line(std::uint64_t number) {
    if (!titled_) [[unlikely]] {
        begin();
    }
    if (unmade_) [[unlikely]] {
        make_kept(); // the next line's time may follow from theirs
    }
    append_number(number);
}

inline void Printer::append_number(std::uint64_t number) {
    if (options_.numbers) {
        text_.append(number == 0 ? std::string(11, ' ') : fmt::format("{:>10} ", number));
    }
}

inline void Printer::end_line() {
    text_.append('\n');
    if (options_.last != no_limit) [[unlikely]] {
        if (Kept* const kept = keep()) {
            kept->line = text_.view();
        }
        text_.clear();
    }
    if (text_.size() > enough_) [[unlikely]] {
        write();
    }
}

// A begin record has a line only if its access has no other, a marker only with its whole text.
// Names of tasks appear in the lines of accesses.
inline bool Printer::is_shown(const Event& event) const {
    switch (event.record.type) {
    case abi::RecordType::begin: return false;
    case abi::RecordType::marker: return event.text_id() != no_id;
    case abi::RecordType::task: return format_.raw();
    case abi::RecordType::own: return options_.own;
    default: return true;
    }
}

inline void Printer::show(const Event& event) {
    if (options_.changes) [[unlikely]] {
        show_change(event);
    } else {
        show_if_room(event, {});
    }
}

void Printer::show_change(const Event& event) {
    const abi::RecordType type = event.record.type;
    if (type != abi::RecordType::access && type != abi::RecordType::own) {
        show_if_room(event, {});
    } else if (const auto change = values_->see(event.record)) {
        show_if_room(event, change->before);
    }
}

inline void Printer::show_if_room(const Event& event, std::optional<std::uint64_t> before) {
    if (options_.gap != 0) {
        print_gap(static_cast<std::int64_t>(event.nanoseconds));
    }
    if (lines_ >= options_.limit) {
        not_printed_ += event.record.type == abi::RecordType::access ? 1 : 0;
    } else if (options_.collapse) {
        collapse_.add(event);
    } else if (options_.last != no_limit) {
        event.settle();
        print(event, 1, "", before);
    } else if (begin_line(event.number)) {
        format_.append(text_, event, {}, before);
        end_line();
    }
}

void Printer::add(const Event& event) {
    if (!begun_.empty() || event.record.type == abi::RecordType::begin) [[unlikely]] {
        keep_begun(event);
    }
    if (is_shown(event)) {
        const std::uint64_t before = lines_;
        show(event);
        if (abi::goes_on(event.record)) [[unlikely]] {
            show_payload(event, lines_ != before);
        }
    }
}

// A whole stack is bytes only with --raw. Its lines do not count as those of events.
void Printer::show_payload(const Event& event, bool shown) {
    if (format_.raw() || !is_stack(event.payload())) {
        std::ranges::for_each(pieces_of(event), [this](const Event& piece) { show(piece); });
        return;
    }
    const auto stack = options_.stacks && shown ? event.stack() : std::vector<const Location*>();
    for (std::size_t i = 1; i < stack.size(); ++i) {
        start_line(0);
        text_.append(fmt::format("{:17}<- {}", "", code_text(*stack[i])));
        end_line();
    }
}

// Adds the first events, as long as each is a plain line. Returns their number.
std::size_t Printer::add_quickly(std::span<const Event> events) {
    if (options_.collapse || options_.changes || options_.numbers || !titled_ || !begun_.empty() ||
        options_.gap != 0 || options_.last != no_limit) {
        return 0;
    }
    const std::size_t count = format_.append_lines(
        text_, events.first(std::min<std::uint64_t>(events.size(), options_.limit - lines_)));
    lines_ += count;
    if (text_.size() > enough_) {
        write();
    }
    return count;
}

// Of many accesses, only the last are made lines: skips the others. Returns their number.
std::size_t Printer::skip_quickly(std::span<const Event> events) {
    if (options_.last == no_limit || options_.collapse || options_.changes || !titled_ ||
        !begun_.empty()) {
        return 0;
    }
    const auto is_access = [](const Event& event) {
        return event.record.type == abi::RecordType::access && !abi::goes_on(event.record);
    };
    const auto other = std::ranges::find_if_not(events, is_access);
    const auto accesses = static_cast<std::size_t>(other - events.begin());
    if (accesses <= options_.last || accesses > options_.limit - lines_) {
        return 0;
    }
    const std::size_t skipped = accesses - static_cast<std::size_t>(options_.last);
    if (options_.gap != 0) {
        for (const Event& event : events.first(skipped)) {
            print_gap(static_cast<std::int64_t>(event.nanoseconds));
        }
    }
    format_.pass(events[skipped - 1]);
    lines_ += skipped;
    dropped_ += skipped + last_.size();
    last_.clear();
    return skipped;
}

void Printer::add_all(std::span<const Event> events) {
    while (!events.empty()) {
        events = events.subspan(skip_quickly(events));
        events = events.subspan(add_quickly(events));
        if (!events.empty()) {
            add(events.front());
            events = events.subspan(1);
        }
    }
}

// An earlier consumer has merged several events.
void Printer::add_derived(const DerivedEvent& derived) {
    collapse_.release();
    print(derived.first, derived.count, derived.text);
}

void Printer::keep_begun(const Event& event) {
    const bool unended = begun_.add(event.record).has_value();
    const unsigned cpu = event.record.cpu;
    if (const auto held = begun_events_.extract(cpu); unended && held) {
        show(held.mapped());
    }
    if (event.record.type == abi::RecordType::begin) {
        event.settle();
        begun_events_.insert_or_assign(cpu, Begun{event, ""});
    }
}

void Printer::show(const Begun& begun) {
    if (begun.words.empty()) {
        show(begun.event);
        return;
    }
    collapse_.release();
    if (begin_line(begun.event.number)) {
        format_.append_time(text_, begun.event);
        text_.append(begun.words);
        end_line();
    }
}

void Printer::add_unended(const Event& marker) {
    unended_.push_back({marker, ""});
}

void Printer::add(std::int64_t nanoseconds, std::uint64_t ticks, const std::string& words) {
    print_gap(nanoseconds);
    collapse_.release();
    if (lines_ < options_.limit) {
        start_line(0);
        format_.append_time(text_, nanoseconds, ticks);
        format_.append_note(text_, words);
        end_line();
    }
}

void Printer::forget() {
    flush();
    make_kept();
    for (auto& [cpu, begun] : begun_events_) {
        render(begun);
    }
    for (Begun& marker : unended_) {
        render(marker);
    }
    format_.forget();
}

void Printer::render(Begun& begun) {
    if (begun.words.empty()) {
        TextBuffer words;
        format_.append_words(words, begun.event);
        begun.words = words.view();
    }
}

void Printer::finish() {
    for (const auto& [cpu, begun] : begun_events_) {
        show(begun);
    }
    for (const Begun& marker : unended_) {
        show(marker);
    }
    collapse_.release();
    show_last();
    flush();
}

void Printer::flush() {
    collapse_.release();
    write();
    std::fflush(out_);
}

// Events that are out of order show no gap.
void Printer::print_gap(std::int64_t nanoseconds) {
    const std::int64_t before = seen_.value_or(nanoseconds);
    seen_ = std::max(before, nanoseconds);
    if (options_.gap == 0 || nanoseconds - before < static_cast<std::int64_t>(options_.gap)) {
        return;
    }
    collapse_.release();
    if (titled_ && lines_ < options_.limit) {
        text_.append(gap_text(static_cast<std::uint64_t>(nanoseconds - before)));
        end_line();
    }
}

// Null: nothing is kept.
Printer::Kept* Printer::keep() {
    if (last_.size() < options_.last) {
        return &last_.emplace_back();
    }
    ++dropped_;
    if (last_.empty()) {
        return nullptr;
    }
    if (const std::optional<Event>& event = last_.front().event) {
        format_.pass(*event);
    }
    last_.splice(last_.end(), last_, last_.begin());
    last_.back().event.reset();
    return &last_.back();
}

void Printer::make_kept() {
    for (Kept& kept : last_) {
        if (kept.event) {
            append_number(kept.event->number);
            format_.append(text_, *kept.event, kept.more, kept.before);
            text_.append('\n');
            kept.line = text_.view();
            kept.event.reset();
            text_.clear();
        }
    }
    unmade_ = false;
}

void Printer::show_last() {
    make_kept();
    if (options_.of_end) {
        text_.append("... earlier lines, not printed\n");
    } else if (dropped_ > 0) {
        text_.append(fmt::format("... {} earlier lines, not printed\n", dropped_));
    }
    for (const Kept& kept : last_) {
        text_.append(kept.line);
    }
    last_.clear();
    dropped_ = 0;
}

void Printer::begin() {
    titled_ = true;
    text_.append((options_.numbers ? "    number " : "") + format_.titles() + "\n");
    if (options_.last != no_limit) {
        write();
    }
}

void Printer::write() {
    std::fwrite(text_.view().data(), 1, text_.size(), out_);
    text_.clear();
}

// `event` is settled. Of the last lines, only those that remain are made.
void Printer::print(const Event& event, std::uint64_t count, std::string_view more,
                    std::optional<std::uint64_t> before) {
    if (options_.last != no_limit && titled_ && lines_ < options_.limit) {
        ++lines_;
        if (Kept* const kept = keep()) {
            kept->event = event;
            kept->more = more;
            kept->before = before;
            unmade_ = true;
        }
    } else if (begin_line(event.number)) {
        format_.append(text_, event, more, before);
        end_line();
    } else {
        not_printed_ += event.record.type == abi::RecordType::access ? count : 0;
    }
}

} // namespace mmioscope::view
