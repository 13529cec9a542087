// Pages of memory that move between CPUs: a page can be read where nobody has stored since, and be
// stored to where nobody else has it. So a CPU traps when it first uses what another one has used
// in another way, and that trap is a record; between them the guest runs at its own speed.
//
// Each CPU has its own tables of these pages, for its normal view and that of its steps. Memory
// that a device reads or writes (DMA) does not trap.
//
// Who takes a page from others makes their descriptors invalid, or read-only, and then all CPUs
// forget them; only then the record is written, and then its own descriptor becomes valid
// (docs/tlb.md). A page stays where it came to for a while: a store-exclusive would else lose it to
// another CPU's again and again. The CPU that has it so may store there at once. One that moves too
// often is free for a while, if that is asked for: all CPUs have it, between two records.
#pragma once

#include "abi/record.hpp"
#include "engine/service.hpp"

namespace mmioscope {

class MovingPages final : public Service {
public:
    BootError configure(Machine& machine, Setup& setup) override;
    bool add_to_tables(Machine& machine) override;
    BootError start(Machine& machine, const Setup& setup) override;

    bool on() const { return on_; }
    /// Nobody has a page, or all CPUs have all of them and nobody traps. Between begin_quiet() and
    /// end_quiet().
    void set_moving(Machine& machine, bool moving);

    // Another service may have one of the pages for a while, in place of the CPUs.

    /// Whether it moves, or is lent.
    bool is_ours(std::uint64_t page) { return all_.contains(page) && page_at(page).ours; }
    /// What all CPUs have at a page of memory that is not lent, and that nobody has used.
    lpae::Descriptor at_first(std::uint64_t page) {
        return moving_ && is_ours(page)
                   ? 0
                   : lpae::make_leaf(page, lpae::guest_memory, lpae::last_level);
    }
    /// Between begin_quiet() and end_quiet(), or before the guest runs. Does nothing to others.
    void lend(std::uint64_t page, bool lent) {
        if (is_ours(page)) page_at(page) = {.ours = true, .lent = lent, .free = !moving_};
    }
    /// From now on the views of a CPU may have different tables there.
    void separate(std::uint64_t page) { tables_[page / block_size] = 0; }

    /// Of the memory between the image and the place of the boot loader's tree: what is left.
    Range room() const { return room_; }

    /// The page comes to the CPU, unless it is too soon: then the guest traps again.
    bool trap(Cpu& cpu, const Frame& frame, arch::Hsr hsr) override;
    bool abort(Cpu& cpu, const Frame& frame, arch::Hsr hsr) override;

private:
    static constexpr unsigned table_level = lpae::last_level - 1; ///< of what leads to our tables
    static constexpr std::uint64_t block_size = lpae::level_size(table_level);

    /// Who has a page.
    struct Page {
        bool ours : 1 {};             ///< it moves,
        bool lent : 1 {};             ///< but not now,
        bool free : 1 {};             ///< nor if all have it
        bool writable : 1 {};         ///< the only holder may store there
        std::uint32_t last : 4 {};    ///< the CPU that it came to last: it need not wait
        std::uint32_t holders : 8 {}; ///< CPUs that may access it, a bit each
        std::uint32_t moves : 8 {};   ///< in a row, each soon after the one before
        std::uint32_t since{};        ///< CNTPCT's lower half when it came to the last one
    };

    /// A page that is free. Changes under its page's lock.
    struct Free {
        std::uint32_t page{}; ///< 0: none
        std::uint32_t since{};
    };

    void set_in_each(unsigned cpu, std::uint32_t page, lpae::Descriptor leaf);
    void set(unsigned cpu, std::uint32_t page, lpae::Descriptor leaf);
    void mark(Range range, bool ours);
    void mark_ours(const Machine& machine);
    bool make_table(lpae::Descriptor& entry, std::uint64_t block);
    bool make_tables(Machine& machine, std::uint64_t block);
    bool replace_tables(Machine& machine);
    Page& page_at(std::uint64_t at) {
        return pages_[static_cast<std::uint32_t>(at - all_.begin) / page_size];
    }
    void take_from(unsigned losers, std::uint32_t page, lpae::Descriptor leaf);
    void record(Cpu& cpu, abi::MoveBy by, std::uint32_t page);
    bool set_free(Cpu& cpu, std::uint32_t at, Page& page, bool taken, std::uint32_t behind);
    void take_back(Cpu& cpu);
    void get(Cpu& cpu, std::uint32_t at, abi::MoveBy by, Page& page);
    void move(Cpu& cpu, std::uint32_t at, abi::MoveBy by, Page& page, unsigned losers);

    bool on_{}, moving_{true};
    Machine* machine_{};
    std::uint16_t region_{abi::no_device}; ///< of all memory
    std::uint32_t hold_{};                 ///< ticks that a page stays where it came to
    unsigned limit_{};                     ///< of Page::moves; 0: none
    Free free_[16]{};
    FixedVector<Range, 8> ranges_; ///< as asked for
    Range room_;                   ///< for tables: what is left
    Range all_;                    ///< whole blocks with all pages
    Page* pages_{};                ///< of `all_`
    std::uint32_t count_{};        ///< of them
    /// Of each block: the first of the CPUs' tables, one behind the other, if both views of each
    /// CPU lead there; else 0.
    std::uint32_t tables_[lpae::input_end / block_size]{};
};

} // namespace mmioscope
