// How a description (abi/wire.hpp) becomes fewer bytes: it is sent again and again, and consists of
// words and numbers that repeat.
//
// Wherever the last two bytes have occurred before, the byte that followed them is expected, and
// then the ones behind it, as long as that holds. What is not as expected is coded by how often
// each byte occurs. Encoder and decoder are the same code (abi/range_coder.hpp). Whatever the bits
// are, a decoder ends, within `text`.
#pragma once

#include "abi/range_coder.hpp"

namespace mmioscope::abi {

/// What both sides know so far. All zero bytes are a new one.
class TextModel {
public:
    /// Codes `size` bytes of `text`, or fills them in. Precondition: size <= 2^16, a new model.
    template <class Coder>
    void code(Coder& coder, std::uint8_t* text, std::size_t size) {
        std::size_t like = 0; ///< place of the byte that is expected; 0: none is
        unsigned run = 0;     ///< how many were as expected
        for (std::size_t at = 0; at < size; ++at) {
            if (at >= 2) {
                std::uint16_t& last = followed_[text[at - 2] << 4 ^ text[at - 1]];
                if (run == 0) like = last;
                last = static_cast<std::uint16_t>(at);
            }
            if (like != 0 && is_expected(coder, text[at], text[like], run)) {
                ++like;
                ++run;
            } else {
                text[at] = static_cast<std::uint8_t>(bytes_.code(coder, text[at]));
                like = run = 0;
            }
        }
    }

private:
    static constexpr unsigned longest = 16;

    template <class Coder>
    bool is_expected(Coder& coder, std::uint8_t& byte, std::uint8_t expected, unsigned run) {
        Probability& differs = differs_[run < longest ? run : longest - 1];
        if (coder.bit(differs, Coder::encoding && byte != expected)) return false;
        byte = expected;
        return true;
    }

    std::uint16_t followed_[1u << 12]{}; ///< by two bytes: where they were last followed by another
    Probability differs_[longest];
    BitTree<8> bytes_;
};

} // namespace mmioscope::abi
