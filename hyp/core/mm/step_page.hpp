// A step without breakpoints. For the length of a step, one page of this CPU's own lies in its
// shadow table in place of the page of the guest's code. It has the instruction, and SMC everywhere
// else; nothing else may be executed. So wherever the instruction leads, the guest's next fetch
// comes to Hyp: as SMC, which HCR.TSC traps (HVC needs SCR.HCE, which firmware may have left
// clear), or as a prefetch abort.
#pragma once

#include "mm/guest_view.hpp"

namespace mmioscope {

/// An instruction of the guest.
struct GuestInstruction {
    PhysicalAddress at;
    std::uint32_t word{}; ///< as arch::decode() takes it
    bool thumb{};
    bool wide{};
};

class StepPage {
public:
    /// Takes its memory from `pool`. `shadow` is in effect except for the page. False: the pool is
    /// empty.
    [[nodiscard]] bool build(const View& shadow, TablePool& pool);

    /// Whether an instruction at `address` lies in one page, and an SMC behind it does too, or lies
    /// on the next one as a whole.
    static constexpr bool fits(std::uint32_t address, bool wide) {
        const std::uint32_t left = page_size - (address & (page_size - 1));
        const std::uint32_t length = wide ? 4 : 2;
        return left == length || left >= length + 4;
    }

    /// Puts the page, with `code`, in the place of the guest's; the table is not in use.
    /// `thumb_vectors`: the guest takes exceptions in Thumb state (SCTLR.TE).
    void put(const GuestInstruction& code, bool thumb_vectors);

    const View& view() const { return view_; }

private:
    void write(const GuestInstruction& code, bool thumb_vectors);

    View shadow_;                    ///< without the page
    View view_;                      ///< with it
    lpae::Descriptor* on_the_way_{}; ///< its own tables, of levels 2 and 3
    std::uint16_t* page_{};
};

} // namespace mmioscope
