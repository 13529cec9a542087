#include "disassembler.hpp"

// bfd.h requires that its includer was configured.
#define PACKAGE "mmioscope"
#define PACKAGE_VERSION "1"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dis-asm.h>

namespace mmioscope::decoder_test {

struct Line {
    std::array<char, 512> line;
    std::size_t length;
};

namespace {

int append(Line& text, const char* format, std::va_list arguments) {
    const int n = std::vsnprintf(text.line.data() + text.length, text.line.size() - text.length,
                                 format, arguments);
    text.length = std::min(text.length + static_cast<std::size_t>(n), text.line.size() - 1);
    return n;
}

int print_plain(void* text, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int n = append(*static_cast<Line*>(text), format, arguments);
    va_end(arguments);
    return n;
}
int print_styled(void* text, disassembler_style, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int n = append(*static_cast<Line*>(text), format, arguments);
    va_end(arguments);
    return n;
}

} // namespace

Disassembler::Disassembler(Set set) : set_(set), info_(new disassemble_info), text_(new Line) {
    init_disassemble_info(info_, text_, print_plain, print_styled);
    info_->arch = bfd_arch_arm;
    info_->mach = bfd_mach_arm_7;
    info_->flags |= USER_SPECIFIED_MACHINE_TYPE; // otherwise it decodes for all machines
    info_->endian = info_->endian_code = BFD_ENDIAN_LITTLE;
    info_->disassembler_options = set == Set::arm ? "no-force-thumb" : "force-thumb";
    info_->buffer = bytes_.data();
    info_->buffer_length = bytes_.size();
    disassemble_init_for_target(info_);
}

Disassembler::~Disassembler() {
    disassemble_free_target(info_);
    delete info_;
    delete text_;
}

std::string_view Disassembler::operator()(std::uint32_t word, unsigned& length) {
    static const disassembler_ftype print =
        disassembler(bfd_arch_arm, false, bfd_mach_arm_7, nullptr);
    if (set_ == Set::thumb32) word = word >> 16 | word << 16;
    std::memcpy(bytes_.data(), &word, sizeof word);
    text_->length = 0;
    text_->line[0] = '\0';
    length = static_cast<unsigned>(print(0, info_));
    return {text_->line.data(), text_->length};
}

} // namespace mmioscope::decoder_test
