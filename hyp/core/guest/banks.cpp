#include "guest/banks.hpp"

#include "guest/registers.hpp"
#include "guest/vector.hpp"

namespace mmioscope {

std::optional<std::uint32_t> banked_value(const Frame& frame, arch::Bank bank, unsigned place,
                                          unsigned log2_size) {
    if (bank == arch::Bank::vector) return vector_value(place, log2_size);
    const bool names_other_bank = bank == arch::Bank::user || place == arch::place_spsr;
    if (names_other_bank && !has_own_bank(frame)) return std::nullopt;
    if (bank == arch::Bank::user) return user_register(frame, place);
    return place == arch::place_spsr ? saved_psr(frame) : guest_register(frame, place);
}

} // namespace mmioscope
