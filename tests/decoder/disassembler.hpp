// GNU binutils' disassembler (libopcodes), called as in objdump.
#pragma once

#include "facts.hpp"

#include <array>
#include <string_view>

struct disassemble_info;

namespace mmioscope::decoder_test {

struct Line;

class Disassembler {
public:
    explicit Disassembler(Set set);
    ~Disassembler();
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    /// The line for `word`, valid until the next call. `length` becomes its length in bytes.
    std::string_view operator()(std::uint32_t word, unsigned& length);

private:
    Set set_;
    disassemble_info* info_;
    Line* text_;
    std::array<unsigned char, 4> bytes_{};
};

} // namespace mmioscope::decoder_test
