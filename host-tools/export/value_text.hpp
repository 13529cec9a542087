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

/// The interrupts of events (Event::interrupt()).
class InterruptText {
public:
    /// `form` returns an event's words with all that surrounds them.
    explicit InterruptText(std::function<std::string(const Event&)> form)
        : form_(std::move(form)), none_(form_(Event())) {}

    /// Valid until the next call.
    [[gnu::always_inline]] const BasicPiece<32>& of(const Event& event) {
        const Id id = event.interrupt_id();
        return id == no_id ? none_ : kept_.of({id}, [&](BasicPiece<32>& text) {
            text = BasicPiece<32>(form_(event));
        });
    }

    /// Ids of events become invalid.
    void forget() { kept_.forget(); }

private:
    struct Key {
        Id id = no_id;
        bool operator==(const Key&) const = default;
        std::uint64_t hash() const { return id; }
    };

    std::function<std::string(const Event&)> form_;
    BasicPiece<32> none_;
    reading::KeptByKey<Key, BasicPiece<32>, 64> kept_;
};

class FlagText {
public:
    /// `form` returns an event's words with all that surrounds them.
    explicit FlagText(std::function<std::string(const Event&)> form) : form_(std::move(form)) {}
    FlagText(const FlagText&) = delete;
    FlagText& operator=(const FlagText&) = delete;

    /// Valid until the next call.
    const BasicPiece<32>& of(const Event& event) {
        const std::uint32_t bits = event.record.flags | std::uint32_t{event.record.access} << 8;
        return last_->bits == bits ? last_->text : find(bits, event);
    }

private:
    struct Kept {
        std::uint32_t bits = UINT32_MAX;
        BasicPiece<32> text;
    };

    const BasicPiece<32>& find(std::uint32_t bits, const Event& event) {
        last_ = &kept_[(bits ^ bits >> 8) % kept_.size()];
        if (last_->bits != bits) {
            *last_ = {bits, BasicPiece<32>(form_(event))};
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
