// Events as rows of cells. Most of a row repeats, so it is made once and then copied.
#pragma once

#include "export/columns.hpp"
#include "export/sink.hpp"
#include "export/value_text.hpp"
#include "reading/kept.hpp"
#include "system/text_buffer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mmioscope::exporting {

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

} // namespace mmioscope::exporting
