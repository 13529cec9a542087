// Values, interrupts and flags of records (field_words(), flag_words()) as text in the rows of a
// format.
#pragma once

#include "export/columns.hpp"
#include "mmioscope/event.hpp"
#include "reading/kept.hpp"
#include "registers/fields_text.hpp"
#include "system/text_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace mmioscope::exporting {

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

} // namespace mmioscope::exporting
