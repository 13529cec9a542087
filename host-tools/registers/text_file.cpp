#include "registers/text_file.hpp"

#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope::registers {

std::string text_of(const std::string& path) {
    constexpr std::size_t most = 64u << 20;
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
    std::string text;
    std::size_t got = 0;
    do {
        const std::size_t at = text.size();
        text.resize(at + (64u << 10));
        got = source.read(text.data() + at, text.size() - at);
        text.resize(at + got);
    } while (got != 0 && text.size() <= most);
    if (text.size() > most) {
        throw bad_input("{}: larger than 64 MiB: this is no description of registers", path);
    }
    return text;
}

} // namespace mmioscope::registers
