// Executes what runs with the MMU off: boot/start.S, and the functions that it needs of port/ and
// of the C library, as compiled for the target, on a CPU of its own.
//
// Memory is Strongly-ordered there, so an unaligned access is an alignment fault (ARM ARM A3.2.1).
#pragma once

#include "arm_code.hpp"
#include "registers.hpp"
#include "set_way_caches.hpp"

#include <functional>
#include <map>
#include <set>

namespace mmioscope::sim {

class BootCode : ArmCode {
public:
    /// In `mode` (CPSR.M), with this SCTLR or HSCTLR; what else is UNKNOWN is random.
    BootCode(SetWayCaches& caches, Random& random, unsigned mode, std::uint32_t control);

    using ArmCode::r_;
    static std::uint32_t symbol(const char* name);
    /// Executes from `name` on, until PC is at one of `ends`. Returns which one.
    unsigned run(const char* name, const std::vector<std::uint32_t>& ends);

    /// SCTLR or HSCTLR, as in effect.
    std::uint32_t control() const;
    template <class R>
    typename R::Value effective() const {
        return registers_.get<R>();
    }
    std::uint32_t level_selected() const; ///< CSSELR
    /// Whether the TLB, the instruction cache and the branch predictor were emptied, with a DSB and
    /// an ISB behind it.
    bool starts_afresh() const;
    std::map<std::uint32_t, std::uint8_t> memory; ///< other bytes are 0
    bool aligned_only{true};                      ///< the MMU is off
    std::function<void()> on_sleep;               ///< WFI

private:
    void barrier(std::uint32_t word) override;
    void miscellaneous(std::uint32_t word) override;
    void coprocessor(std::uint32_t word) override;
    void call(std::uint32_t target) override;
    std::uint64_t load(std::uint32_t address, unsigned log2_size) override;
    void store(std::uint32_t address, unsigned log2_size, std::uint64_t value) override;

    Encoding control_register() const;
    void check_access(std::uint32_t address, unsigned log2_size) const;
    void write_register(Encoding which, std::uint32_t value);
    std::uint32_t read_register(Encoding which) const;

    SetWayCaches& caches_;
    Registers registers_;
    unsigned mode_;
    std::set<Encoding> emptied_;
    enum class Maintenance { begun, done, synchronized } maintenance_{};
};

} // namespace mmioscope::sim
