// A guest's CPU: interprets a small subset of ARM and Thumb from simulated memory through the live
// stage-2 tables, and traps into the hypervisor's own code like a Cortex-A15.
#pragma once

#include "simulation.hpp"

#include <optional>

namespace mmioscope {
struct Cpu;
}

namespace mmioscope::sim {

/// Where an enabled breakpoint with this DBGBCR matches: HMC, SSC and PMC (ARM ARM C11.11.2).
struct Matches {
    bool nonsecure{}; ///< at PL0 and PL1, as below
    bool secure{};    ///< likewise
    bool pl0{};
    bool pl1{};
    bool hyp{};
};
Matches where_matches(std::uint32_t dbgbcr);

/// Of the table that lets CPU `cpu` reach the traced pages.
std::uint64_t shadow_root(Machine& machine, unsigned cpu);

class GuestCpu {
public:
    GuestCpu(Simulation& simulation, Core& core, Cpu& state)
        : sim_(simulation), core_(core), state_(state) {}

    /// Runs the guest until its program branches to itself.
    void run();

    /// Runs the trial of entry/trial.S.
    TrialEnd run_trial();

private:
    /// The effect of an instruction on the flow of control.
    enum class Effect { next, jumped, trapped, ended };
    /// HSR's description of a data abort's instruction.
    struct Syndrome {
        bool valid{};
        unsigned reg{};
        bool sign{};
        bool maintenance{};
        bool single{}; ///< one access, which need not be aligned: not LDM, LDREX, VLDR ... (A3.2.1)
        std::optional<unsigned> whole_size{}; ///< log2, if this is one byte of an access
    };
    /// A single load or store, decoded.
    struct Transfer {
        bool load;
        unsigned log2_size;
        bool sign;
        unsigned reg;
        std::uint32_t address;
        unsigned base;
        std::uint32_t base_after; ///< written back if it differs from the base register
        bool writeback;
    };

    void step();
    void raise_interrupts();
    void check_view();
    bool hits_breakpoint() const;
    void note_debug_event(unsigned method);
    void debug_event(unsigned method);
    Effect breakpoint_instruction();
    void execute(std::uint32_t word);

    static constexpr unsigned by_breakpoint = 1; ///< DBGDSCR.MOE

    // guest_watchpoint.cpp
    bool monitor_debug_on() const;
    bool hits_watchpoint(std::uint32_t va, unsigned log2_size, bool write) const;
    void watchpoint_event(std::uint32_t va, bool write);

    // guest_memory.cpp
    Route translate(std::uint32_t va);
    bool on_shadow() const;
    bool reaches_trapped(std::uint64_t address) const;
    bool fetch(std::uint32_t va, std::uint16_t& halfword);
    bool load(std::uint32_t va, unsigned log2_size, const Syndrome& syndrome, std::uint32_t& value);
    bool store(std::uint32_t va, unsigned log2_size, const Syndrome& syndrome, std::uint32_t value);
    bool access(std::uint32_t va, unsigned log2_size, bool write, const Syndrome& syndrome,
                std::uint32_t& value);
    bool access_over_pages(std::uint32_t va, std::uint32_t last, unsigned log2_size, bool write,
                           const Syndrome& syndrome, std::uint32_t& value);
    bool access_in_page(std::uint32_t va, unsigned log2_size, bool write, const Syndrome& syndrome,
                        std::uint32_t& value, bool aligned);
    Effect transfer(const Transfer& what);
    Effect transfer_many(bool load, unsigned base, std::uint32_t address, std::uint32_t list,
                         std::uint32_t base_after, bool writeback);
    Effect transfer_vector(bool load, std::uint32_t address, unsigned first, unsigned count,
                           unsigned log2_size);
    Effect maintain(std::uint32_t va);
    Effect translate_address(std::uint32_t va);

    // guest_exceptions.cpp
    void take(arch::Mode mode, std::uint32_t vector, std::uint32_t link, bool masks_abort);
    void undefined();
    void native_data_abort(std::uint32_t va, std::uint32_t status, bool write);
    void native_prefetch_abort(std::uint32_t va, std::uint32_t status);
    void asynchronous_abort();
    Effect supervisor_call();
    Effect monitor_call();
    Effect wait_for_interrupt();
    Effect trap(unsigned exception_class, std::uint32_t iss, bool wide);
    void stopped_access(std::uint32_t va, const Route& route, bool write, const Syndrome& syndrome,
                        unsigned log2_size);
    void misaligned_by_stage2(std::uint32_t va, bool write);
    void stopped_fetch(std::uint32_t va, const Route& route);
    Effect return_from_exception(std::uint32_t address);

    // guest_arm.cpp, guest_thumb.cpp
    Effect execute_arm(std::uint32_t word);
    Effect execute_thumb(std::uint32_t word);
    Effect execute_thumb_wide(std::uint32_t word);
    Effect arm_data_processing(std::uint32_t word);
    Effect arm_load_store(std::uint32_t word);
    Effect arm_extra_load_store(std::uint32_t word);
    Effect arm_block(std::uint32_t word);
    bool debug_register_traps(std::uint32_t word) const;
    Effect coprocessor(std::uint32_t word);
    Effect vfp_load_store(std::uint32_t word);
    Effect structure_load_store(std::uint32_t word);
    Effect swap(std::uint32_t word);
    Effect barrier(std::uint32_t word);
    bool maintain_tlb(Encoding which, std::uint32_t value);
    struct Exclusive {
        bool load;
        unsigned size; ///< log2 of its bytes
        unsigned reg;
        unsigned status; ///< of a store: the register for the result
        std::uint32_t address;
    };
    Effect exclusive(std::uint32_t word);
    Effect exclusive_thumb(std::uint32_t word);
    Effect exclusive_access(const Exclusive& what);
    Effect misaligned(std::uint32_t address, bool write);
    Effect change_state(bool enable, std::uint32_t aif);

    // guest_registers.cpp
    std::uint32_t get(unsigned n) const;
    void set(unsigned n, std::uint32_t value);
    Effect branch(std::uint32_t address);
    Effect exchange(std::uint32_t address);
    bool condition_holds(unsigned condition) const;
    unsigned it_state() const;
    std::uint32_t add(std::uint32_t a, std::uint32_t b, bool subtract, bool set_flags);

    Simulation& sim_;
    Core& core_;
    Cpu& state_;
    bool wide_{}; ///< the instruction being executed has 32 bits
};

// Bits of an instruction.
inline bool is_set(std::uint32_t word, unsigned n) {
    return (word >> n & 1) != 0;
}
inline unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}

} // namespace mmioscope::sim
