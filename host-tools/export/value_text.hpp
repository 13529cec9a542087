// What values and flags of records say (field_words(), flag_words()), as it stands in rows of some
// format.
#pragma once

#include "export/words.hpp"
#include "lib/kept.hpp"
#include "lib/text_buffer.hpp"
#include "mmioscope/event.hpp"
#include "registers/fields_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace mmioscope::exporting {

class ValueText {
public:
    /// `form` gives the words of an event with all that stands around them; the same for all events
    /// that have none.
    explicit ValueText(std::function<std::string(const Event&)> form);

    /// What does not depend on the value.
    struct OfContext {
        bool has_fields = false;
        const Field* lone = nullptr; ///< the only one: it is written in between of
        Piece before, after;
        unsigned within = 0; ///< bytes from the register's start
    };
    OfContext of_context(const Event& event) const;

    /// A text that is kept, until the next call; null: append() makes it.
    const Piece* find(const Event& event, const OfContext& context) {
        if (!context.has_fields || !has_bus_value(event.record)) {
            return &none_;
        }
        return context.lone != nullptr
                   ? nullptr
                   : &kept_.of({event.place_id(), event.record.value},
                               [&](Piece& kept) { kept = Piece(form_(event)); });
    }

    [[nodiscard]] static TextCursor append(TextCursor to, const Event& event,
                                           const OfContext& context) {
        to.append(context.before);
        to.hex(registers::field_value(*context.lone, event.record.value, context.within));
        to.append(context.after);
        return to;
    }
    /// The most characters of that.
    static std::size_t most(const OfContext& context) {
        return context.before.size() + context.after.size() + 18;
    }

    /// Ids of events mean nothing from now on.
    void forget() { kept_.forget(); }

private:
    std::function<std::string(const Event&)> form_;
    Piece none_;
    KeptByKey<PlaceAndValue, Piece, 1024> kept_;
};

class FlagText {
public:
    /// `form` gives the words of an event with all that stands around them.
    explicit FlagText(std::function<std::string(const Event&)> form) : form_(std::move(form)) {}

    /// Holds until the next call.
    const Piece& of(const Event& event) {
        const std::uint32_t bits = event.record.flags | std::uint32_t{event.record.access} << 8;
        Kept& kept = kept_[(bits ^ bits >> 8) % kept_.size()];
        if (kept.bits != bits) [[unlikely]] {
            kept = {bits, Piece(form_(event))};
        }
        return kept.text;
    }

private:
    struct Kept {
        std::uint32_t bits = UINT32_MAX;
        Piece text;
    };

    std::function<std::string(const Event&)> form_;
    std::array<Kept, 64> kept_;
};

/// A text of a context that has sp and va in it, too: mostly they are those of its last access.
class StackText {
public:
    StackText() = default;
    /// Of `record`'s context, so far of no access; it has at most `most` characters.
    StackText(std::size_t most, const abi::Record& record)
        : text_(most), numbers_(~numbers(record)) {}

    /// `append` makes it, given where to, and returns where it ends. Holds until the next call.
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
