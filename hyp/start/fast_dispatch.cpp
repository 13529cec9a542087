#include "trap/fast_path.hpp"

#include "machine/machine.hpp"
#include "port/fast_code.hpp"

#include <algorithm>
#include <iterator>

namespace mmioscope {

// Index: direction (WnR), SAS, SSE, a zero, SRT. LR is banked, and has its own ways, for words of
// PL1 only; SP and PC have none.
void build_fast_dispatch(Machine& machine) {
    constexpr unsigned of_word = 2, to_lr = 3, lr = 14, sizes = 3;
    const bool emulation = machine.config.engine == abi::EngineKind::emulation;
    auto& [of_pl1, of_user] = machine.fast_dispatch;
    for (std::uint32_t& way : of_user) way = port::fast_code(FastCode::slow);
    for (unsigned write = 0; write < 2; ++write) {
        for (unsigned size = 0; size < sizes; ++size) {
            std::uint32_t* ways = of_user + write * 256 + size * 64;
            const std::uint32_t way = port::fast_access(emulation, write * first_store + size);
            for (unsigned reg = 0; reg < 13; ++reg) ways[reg] = way;
        }
    }
    std::copy(std::begin(of_user), std::end(of_user), of_pl1);
    for (unsigned write = 0; write < 2; ++write)
        of_pl1[write * 256 + of_word * 64 + lr] =
            port::fast_access(emulation, write * first_store + to_lr);
}

} // namespace mmioscope
