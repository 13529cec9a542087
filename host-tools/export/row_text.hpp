// Events as rows of cells. Most of a row repeats, so it is made once and then copied.
#pragma once

#include "export/columns.hpp"
#include "export/formats.hpp"
#include "mmioscope/event.hpp"
#include "reading/kept.hpp"
#include "registers/fields_text.hpp"
#include "system/text_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace mmioscope::exporting {

// Values, interrupts and flags of records (field_words(), flag_words()) as text in the rows of a
// format.

class ValueText {
public:
    /// `form` returns an event's words with all that surrounds them. It must return the same for
    /// all events without words.
    explicit ValueText(std::function<std::string(const Event&)> form);

    /// What does not depend on the value.
    struct OfContext {
        bool has_fields = false;
        bool lone = false; ///< there is exactly one: write its value between `before` and `after`
        BasicPiece<32> before, after;
        registers::FieldBits bits; ///< where the access contains it
    };
    OfContext of_context(const Event& event) const;

    /// A cached text, valid until the next call. Null: use append().
    const Piece* find(const Event& event, const OfContext& context) {
        const bool kept = !context.lone && context.has_fields && has_bus_value(event.record);
        return kept ? &kept_.of({event.place_id(), event.record.value},
                                [&](Piece& text) { text = Piece(form_(event)); })
                    : nullptr;
    }

    /// `digits`: those of the event's value if known, in 32 readable bytes.
    [[nodiscard]] [[gnu::always_inline]] TextCursor append(TextCursor to, const Event& event,
                                                           const OfContext& context,
                                                           std::string_view digits = {}) const {
        if (!context.lone || !has_bus_value(event.record)) {
            to.append_any(none_);
            return to;
        }
        to.append_any(context.before);
        const std::uint64_t value = context.bits.of(event.record.value);
        if (value == event.record.value && !digits.empty()) {
            to.append_short(digits);
        } else {
            to.hex(value);
        }
        to.append_any(context.after);
        return to;
    }
    /// The most characters that append() writes.
    std::size_t most(const OfContext& context) const {
        return std::max(none_.size(), context.before.size() + context.after.size() + 18);
    }

    /// Ids of events become invalid.
    void forget() { kept_.forget(); }

private:
    std::function<std::string(const Event&)> form_;
    BasicPiece<32> none_;
    reading::KeptByKey<reading::PlaceAndValue, Piece, 256> kept_;
};

/// Texts of events that a small number decides: the flags, the interrupt's id.
class NumberedText {
public:
    /// `form` returns an event's words with all that surrounds them.
    explicit NumberedText(std::function<std::string(const Event&)> form) : form_(std::move(form)) {}
    NumberedText(const NumberedText&) = delete;
    NumberedText& operator=(const NumberedText&) = delete;

    /// Valid until the next call.
    const BasicPiece<32>& of(std::uint32_t number, const Event& event) {
        return last_->number == number ? last_->text : find(number, event);
    }
    /// Numbers become invalid.
    void forget() {
        for (Kept& kept : kept_) {
            kept.number = none;
        }
    }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    struct Kept {
        std::uint32_t number = none;
        BasicPiece<32> text;
    };

    const BasicPiece<32>& find(std::uint32_t number, const Event& event) {
        last_ = &kept_[(number ^ number >> 8) % kept_.size()];
        if (last_->number != number) {
            *last_ = {number, BasicPiece<32>(form_(event))};
        }
        return last_->text;
    }

    std::function<std::string(const Event&)> form_;
    std::array<Kept, 64> kept_;
    Kept* last_ = &kept_.front();
};

/// A text of a context that includes sp and va, which are mostly those of its last access.
class StackText {
public:
    StackText() = default;
    /// For `record`'s context, before any access; a text has at most `most` characters.
    StackText(std::size_t most, const abi::Record& record)
        : text_(most), numbers_(~numbers(record)) {}

    /// `append` gets the position to write to, and returns the end. The result is valid until the
    /// next call.
    template <typename Append>
    const Piece& of(const abi::Record& record, const Append& append) {
        if (numbers_ != numbers(record)) {
            numbers_ = numbers(record);
            text_.end(append(text_.cursor()));
        }
        return text_;
    }

private:
    static std::uint64_t numbers(const abi::Record& record) {
        return std::uint64_t{record.sp} << 32 | record.va;
    }

    Piece text_;
    std::uint64_t numbers_ = 0; ///< its sp and va
};

enum class RowForm { csv, json, ctf };

constexpr std::span<const Column> columns_of(RowForm form) {
    return form == RowForm::ctf ? std::span<const Column>(ctf_columns) : columns;
}

/// Whether a column depends on a context or on flags like the column before it; then they share a
/// text.
constexpr bool goes_on(std::span<const Column> columns, std::size_t column) {
    const Column::Of of = columns[column].of;
    return column > 0 && columns[column - 1].of == of &&
           (of == Column::Of::context || of == Column::Of::flags);
}

/// Index of the context's text that contains a column; for the end of the columns, the number of
/// texts.
constexpr std::size_t text_index(std::span<const Column> columns, std::size_t column) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < column; ++i) {
        before += columns[i].of == Column::Of::context && !goes_on(columns, i) ? 1 : 0;
    }
    return before;
}

class RowText {
public:
    RowText(RowForm form, Cells cells);

    RowText(const RowText&) = delete;
    RowText& operator=(const RowText&) = delete;

    /// Appends one line for each of `events`: CSV has a field for each column, JSON an object of
    /// those with a value.
    void append_lines(fmt::memory_buffer& to, std::span<const Event> events);
    /// Appends one event, without a line end.
    void append(fmt::memory_buffer& to, const Event& event) {
        append_lines(to, {&event, 1});
        to.resize(to.size() - 1);
    }

    /// Appends a row of CTF.
    void append(TextBuffer& to, const Event& event);

    /// Ids of events become invalid.
    void forget() { values_.forget(), interrupts_.forget(); }

private:
    struct OfContext {
        std::array<Piece, std::max(text_index(columns, columns.size()),
                                   text_index(ctf_columns, ctf_columns.size()))>
            texts;
        std::size_t size = 0; ///< of all texts
        ValueText::OfContext value;
        StackText stack; ///< the columns around sp
    };
    /// The texts of an access.
    struct Texts {
        OfContext& context;
        const Piece* value; ///< null: use ValueText::append()
        const BasicPiece<32>& interrupt;
        const BasicPiece<32>& flags;
        std::size_t size() const;
    };

    // `all`: all columns are known.
    template <RowForm form, bool all>
    void append_each(fmt::memory_buffer& to, std::span<const Event> events);
    template <RowForm form, bool all>
    TextCursor append_access(TextCursor to, const Event& event, const Texts& texts);
    template <std::size_t column>
    TextCursor append_slow(TextCursor at, const abi::Record& record, std::uint64_t number);
    template <RowForm form, bool all, std::size_t from, std::size_t to>
    TextCursor append_columns(TextCursor at, const Event& event, const Texts& texts);
    void append_other(fmt::memory_buffer& to, const Event& event) const;
    void append_cell(fmt::memory_buffer& to, std::size_t column, const Event& event) const;
    Texts texts_of(const Event& event);
    std::string text_of(std::size_t first, const Event& event) const;
    void make(OfContext& to, const Event& event) const;

    RowForm form_;
    std::span<const Column> columns_;
    Cells cells_;
    reading::KeptByContext<OfContext, 384> contexts_;
    ValueText values_;
    NumberedText interrupts_, flags_;
    std::array<SlowNumber<std::uint64_t>, columns.size()> times_; ///< for the columns of that kind
    // Index by CPU or device; several may share a place.
    std::array<SlowNumber<std::uint32_t>, 16> of_cpu_;
    std::array<SlowNumber<std::uint32_t>, 64> of_device_;
};

/// A format of such lines.
class Rows : public Exporter {
public:
    Rows(Sink& sink, RowForm form) : sink_(sink), form_(form) {}

    void begin(const trace::TraceReader& reader) override { rows_.emplace(form_, Cells(reader)); }
    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override {
        rows_->append_lines(sink_.text(), events);
        sink_.settle();
    }
    void forget() override { rows_->forget(); }
    void finish() override { sink_.flush(); }

protected:
    Sink& sink_;

private:
    RowForm form_;
    std::optional<RowText> rows_; ///< set by begin()
};

/// The names of columns(), separated by commas.
std::string csv_titles();

} // namespace mmioscope::exporting
