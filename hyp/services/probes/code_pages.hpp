// Pages of the guest's code that have a copy in the hypervisor's memory. The guest's CPUs execute
// the copy in the page's place, and cannot write there; Machine::original() has the page itself.
// Where each CPU has memory in its own way (services/moving/), a step cannot use that: there the
// CPU that steps has the page itself for that time, in its own table.
//
// All but open() and close() between begin_quiet() and end_quiet(), or before the guest runs.
#pragma once

#include "integrity/integrity.hpp"
#include "machine/machine.hpp"
#include "moving/moving_pages.hpp"

#include <span>

namespace mmioscope {

class CodePages {
public:
    struct Page {
        std::uint32_t pa; ///< free: no_page
        std::uint32_t copy;
        std::uint16_t probes{};
        bool waits{}; ///< has no copy yet: its first fetch traps
    };
    static constexpr std::uint32_t no_page = 1;

    constexpr CodePages(Integrity& integrity, MovingPages& moving)
        : integrity_(integrity), moving_(moving) {}

    /// The pages' traps are for `ops`. `room`, and `more`, is the hypervisor's memory, for the
    /// copies.
    BootError start(Machine& machine, OwnerOps& ops, Range room, Range more);

    /// The page of an address; null: it has no copy.
    Page* find(std::uint32_t pa) const;
    /// Takes a page of memory, which is hidden then, and copies it, unless it `waits` for that.
    /// Null, and nothing has changed: it is not the guest's, somebody else owns it, or there is no
    /// room.
    Page* take(std::uint32_t pa, bool waits);
    /// The guest's CPUs have nothing there.
    void hide(const Page& page) { map(page, 0); }
    /// They have the copy; of one that waits the page itself, but fetches trap; and of one without
    /// probes that page, which is nobody's then.
    void settle(Page& page);

    /// The view in which this CPU can execute the page of `pa` itself, in a step. If another CPU
    /// changes it, the step meets the HVC.
    const View& open(Cpu& cpu, std::uint32_t pa);
    /// Behind the step.
    void close(Cpu& cpu);

    /// Copies the page, which is hidden.
    void copy(Page& page);
    /// A word of the copy. The guest's CPUs see a change if the page is hidden meanwhile.
    std::uint32_t word(const Page& page, std::uint32_t pa) const { return *at(page, pa); }
    void set(const Page& page, std::uint32_t pa, std::uint32_t word);
    /// The copy's word becomes that of the page.
    void renew(const Page& page, std::uint32_t pa);

private:
    template <class Is>
    Page* first(std::uint32_t pa, Is is) const;
    std::uint32_t* at(const Page& page, std::uint32_t pa) const;
    void map(const Page& page, lpae::Descriptor leaf);
    void own(const Page& page, const Owner* owner);

    Integrity& integrity_;
    MovingPages& moving_;
    Machine* machine_{};
    Owner* owner_{}; ///< of all of them
    std::span<Page> pages_;
    /// Of a CPU: what its table has at a page that is open. Its lock is held, so nothing changes.
    struct Open {
        std::uint32_t pa; ///< 0: none
        lpae::Descriptor copy;
    };
    Open open_[abi::max_cpus]{};
};

} // namespace mmioscope
