// Executes ARM instructions of the hypervisor's assembly, as assembled for the target. Registers
// and flags are here; what an instruction reaches beyond them is the derived class's.
#pragma once

#include <cstdint>
#include <span>

namespace mmioscope::sim {

/// Bits `high` to `low` of an instruction.
constexpr std::uint32_t bits(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
}
constexpr bool bit_of(std::uint32_t word, unsigned n) {
    return (word >> n & 1) != 0;
}

struct Symbol {
    std::uint32_t value;
    const char* name;
};

/// Code that is linked at `base`, generated from the linked file (sim.mk).
struct LinkedCode {
    std::uint32_t base;
    std::span<const std::uint32_t> words;
    std::span<const Symbol> symbols;

    /// The address of a symbol. Throws Failure if there is none of that name.
    std::uint32_t symbol(const char* name) const;
};

class ArmCode {
public:
    virtual ~ArmCode() = default;

protected:
    static constexpr unsigned sp = 13, lr = 14, pc = 15;

    explicit ArmCode(const LinkedCode& code) : code_(code) {}

    /// Executes the instruction at `at_`, unless it is the one that MMIOSCOPE_LEFT_OUT, an address,
    /// leaves out to show that tests notice its absence.
    void step();

    std::uint32_t get(unsigned n) const { return n == pc ? at_ + 8 : r_[n]; }
    void set(unsigned n, std::uint32_t value);
    [[noreturn]] void unknown(std::uint32_t word) const;

    virtual std::uint64_t load(std::uint32_t address, unsigned log2_size) = 0;
    virtual void store(std::uint32_t address, unsigned log2_size, std::uint64_t value) = 0;
    virtual void call(std::uint32_t target) = 0;  ///< BL
    virtual void barrier(std::uint32_t word) = 0; ///< or another instruction without a condition
    virtual void coprocessor(std::uint32_t word) = 0;
    virtual void coprocessor_pair(std::uint32_t word) { unknown(word); }
    virtual void exclusive(std::uint32_t word) { unknown(word); }
    /// MRS, MSR, ERET and others.
    virtual void miscellaneous(std::uint32_t word) { unknown(word); }

    const LinkedCode& code_;
    std::uint32_t r_[16]{};
    std::uint32_t at_{};
    std::uint32_t next_{};
    bool n_{}, z_{}, c_{}, v_{};

private:
    void execute(std::uint32_t word);
    void compare(std::uint32_t a, std::uint32_t b, bool carry);
    std::uint32_t shifted(std::uint32_t word) const;
    bool carry_of_shift(std::uint32_t word) const;
    void data_processing(std::uint32_t word);
    void media(std::uint32_t word);
    void single(std::uint32_t word);
    void extra(std::uint32_t word);
    void multiple(std::uint32_t word);
    void multiply(std::uint32_t word);
};

} // namespace mmioscope::sim
