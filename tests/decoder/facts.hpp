// The properties of one instruction, in the same terms for both sides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mmioscope::decoder_test {

enum class Set { arm, thumb16, thumb32 };

struct Facts {
    bool load{};
    bool store{};
    bool loads_pc{};
    bool writeback{};
    unsigned size{};  ///< of one access, in bytes
    unsigned bytes{}; ///< of all accesses; 0: unknown
    unsigned length{4};
    bool unpredictable{};
    std::string_view mnemonic{}; ///< without its condition; only from the disassembler

    bool accesses_memory() const { return load || store; }
};

/// The hypervisor's decoder's result.
Facts decoded(std::uint32_t word, Set set);

/// "R 4 of 8 pc !", for messages.
std::string text_of(const Facts& facts);

} // namespace mmioscope::decoder_test
