// The value of a register as text.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace mmioscope::registers {

/// The fields in `value` of an access of `size` bytes, `within` bytes from the register's start:
/// those that are not zero and those whose value has a name, "RXFE=1 WLEN=8bits". Numbers of more
/// than one digit are hexadecimal. Equal adjacent fields become one: "Priority0..3=0xa0". Leaves
/// out fields that are not completely in the access.
std::string fields_text(const Register& reg, std::uint64_t value, unsigned size, unsigned within);

/// Those `bits` of such an access that are awaited to be as in `value`: "TXFF=0 BUSY=0". A part of
/// a field is "Priority&0x3=0x1", bits without a field "&0x40=0x40". `reg`: null if it is not
/// known.
std::string bits_text(const Register* reg, std::uint64_t bits, std::uint64_t value, unsigned size,
                      unsigned within);

/// What of such an access at `place` differs from `before`: "+RXFE -BUSY WLEN 7bits -> 8bits", and
/// bits without a field as masks, "+0x40 -0x3". Leaves out a field that is its whole register.
std::string changes_text(const Place& place, std::uint64_t before, std::uint64_t now,
                         unsigned size);

/// Whether fields_text() of the register is not empty for some value.
bool says_anything(const Register& reg);

/// The name, followed by the distance from the register's start to the access: "GICD_ITARGETSR8+2".
/// `offset` is that of the access, as in Event::offset.
std::string register_text(const Register& reg, std::uint64_t offset);
/// Likewise; "+0x034", the offset alone, if `reg` is null.
std::string register_text(const Register* reg, std::uint64_t offset);
/// Likewise; "LO..HI" if the access covers several registers.
std::string register_text(const Place& place);

/// The name of this value of the field in the description; null if it has none.
const std::string* value_name(const Field& field, std::uint64_t value);

/// Whether an access of `size` bytes, `within` bytes from the register's start, contains the field.
bool holds(const Field& field, unsigned size, unsigned within);

/// The bits of a field in the value of such an access.
class FieldBits {
public:
    FieldBits() = default; ///< no bits
    FieldBits(const Field& field, unsigned within) {
        const unsigned low = field.low - std::min(field.low, within * 8);
        if (low < 64) {
            low_ = low;
            mask_ = field.width >= 64 ? ~0ull : (1ull << field.width) - 1;
        }
    }

    std::uint64_t of(std::uint64_t value) const { return value >> low_ & mask_; }
    /// They alone, where they stand.
    std::uint64_t in_place(std::uint64_t value) const { return value & mask_ << low_; }

private:
    unsigned low_ = 0;
    std::uint64_t mask_ = 0;
};

/// The field's value in such an access.
inline std::uint64_t field_value(const Field& field, std::uint64_t value, unsigned within) {
    return FieldBits(field, within).of(value);
}

} // namespace mmioscope::registers
