#include "facts.hpp"

#include "arch/instruction.hpp"

namespace mmioscope::decoder_test {

Facts decoded(std::uint32_t word, Set set) {
    const arch::Instruction i = arch::decode(word, set != Set::arm);
    return {.load = i.load,
            .store = i.store,
            .loads_pc = i.loads_pc,
            .writeback = i.writeback,
            .size = 1u << i.log2_size,
            .bytes = (i.load && i.store ? 1u : i.beats) << i.log2_size,
            .length = i.wide ? 4u : 2u,
            .unpredictable = i.accesses_memory() && i.beats == 0};
}

std::string text_of(const Facts& f) {
    if (!f.accesses_memory()) return "none, " + std::to_string(f.length) + " bytes long";
    std::string text = f.load ? "R" : "";
    if (f.store) text += "W";
    text += " " + std::to_string(f.size) + " of " + std::to_string(f.bytes);
    if (f.loads_pc) text += " pc";
    if (f.writeback) text += " !";
    return text + (f.unpredictable ? " (unpredictable)" : "");
}

} // namespace mmioscope::decoder_test
