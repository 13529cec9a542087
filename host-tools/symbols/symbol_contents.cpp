#include "symbols/symbol_contents.hpp"

#include "symbols/words.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t max_size = 512u << 20;      ///< vmlinux with DWARF, a list of symbols
constexpr std::size_t max_image_size = 64u << 20; ///< for what can only be a kernel's image

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_elf(std::string_view text) {
    return text.starts_with(std::string_view(ELFMAG, SELFMAG));
}

bool is_text(std::string_view text) {
    const std::string_view head = text.substr(0, 4096);
    return !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r';
    });
}

std::vector<std::byte> read_all(ByteSource& source) {
    std::vector<std::byte> bytes;
    for (std::size_t got = 1; got != 0;) {
        const std::size_t before = bytes.size();
        bytes.resize(before + (1u << 20));
        got = source.read(bytes.data() + before, bytes.size() - before);
        bytes.resize(before + got);
        const std::string_view text = as_text(bytes);
        const bool known = is_elf(text) || is_text(text);
        if (bytes.size() > (known ? max_size : max_image_size)) {
            throw bad_input("is too large for a file of symbols");
        }
    }
    if (const std::string problem = source.problem(); !problem.empty()) {
        throw bad_input("{}", problem);
    }
    return bytes;
}

// `name size references users ...`; in kallsyms the second word is the type.
bool lists_modules(std::string_view text) {
    std::string_view line = next_line(text);
    (void)next_word(line);
    const bool sized = number(next_word(line), 10).has_value();
    (void)next_word(line);
    (void)next_word(line);
    return sized && !is_blank(line);
}

} // namespace

Contents::Contents(const std::string& path) : file_(open_input(path)) {
    std::array<char, SELFMAG> magic{};
    struct stat status {};
    ::fstat(file_.get(), &status);
    const bool seekable = S_ISREG(status.st_mode);
    if (seekable && ::pread(file_.get(), magic.data(), magic.size(), 0) == SELFMAG &&
        is_elf({magic.data(), magic.size()})) {
        kind_ = Kind::elf;
        return;
    }
    bytes_ = read_all(*open_source(file_.get()));
    if (is_elf(text())) {
        kind_ = Kind::elf;
        file_ = memory_file("symbols", 0);
        append(file_.get(), bytes_, "a copy of the file");
        bytes_.clear();
    } else if (is_text(text())) {
        kind_ = lists_modules(text()) ? Kind::modules : Kind::kallsyms;
    }
}

} // namespace mmioscope::symbols
