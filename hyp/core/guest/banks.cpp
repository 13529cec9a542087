#include "guest/banks.hpp"

#include "guest/registers.hpp"
#include "guest/vector.hpp"

namespace mmioscope {

std::optional<std::uint32_t> banked_value(const Frame& frame, arch::Bank bank, unsigned place,
                                          unsigned log2_size) {
    switch (bank) {
    case arch::Bank::vector: return vector_value(place, log2_size);
    case arch::Bank::user: return user_register(frame, place);
    default: return place == arch::place_spsr ? saved_psr(frame) : guest_register(frame, place);
    }
}

} // namespace mmioscope
