#include "symbols/symbol_files.hpp"

#include "symbols/elf_file.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/open_source.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace mmioscope::symbols {

// The content of a file with symbols, whose format is detected.

class Contents {
public:
    enum class Kind { elf, kallsyms, modules, image };

    /// Reads `path`, and decompresses it if necessary; only opens an ELF file. Throws Error
    /// (bad_input).
    explicit Contents(const std::string& path);

    Kind kind() const { return kind_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    const FileDescriptor& file() const { return file_; } ///< for an ELF file

private:
    Kind kind_ = Kind::image;
    FileDescriptor file_;
    std::vector<std::byte> bytes_;
};

namespace {

struct Argument {
    std::string path;
    std::optional<std::uint32_t> address;
};

struct File {
    Argument argument;
    Contents contents;
};

// FILE or FILE@ADDRESS, in hexadecimal.
Argument parse(const std::string& text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) {
        return {text, std::nullopt};
    }
    std::string_view digits = std::string_view(text).substr(at + 1);
    digits.remove_prefix(digits.starts_with("0x") ? 2 : 0);
    const std::optional<std::uint32_t> address = number(digits, 16);
    return address ? Argument{text.substr(0, at), address} : Argument{text, std::nullopt};
}

// The module's name as the kernel derives it from the file's: "-" becomes "_".
std::string module_name(const std::string& path) {
    std::string name = std::filesystem::path(path).filename().string();
    name.resize(std::min(name.find(".ko"), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// Takes the content of a file.
struct Receiver {
    std::function<void(std::unique_ptr<ElfFile>)> elf;
    std::function<void(Trust, SymbolList)> list;
    /// For a module that is not placed.
    std::function<void(const std::string& module, std::unique_ptr<ElfFile>)> unplaced;
};

class SymbolFilesReader {
public:
    explicit SymbolFilesReader(Receiver receiver) : receiver_(std::move(receiver)) {}

    void read_all(std::span<const std::string> arguments) {
        std::vector<File> files;
        for (const std::string& text : arguments) {
            const Argument argument = parse(text);
            named(argument.path, [&] { files.push_back({argument, Contents(argument.path)}); });
        }
        // Lists of modules first: they place the others, in any order of arguments.
        for (const File& file : files) {
            named(file.argument.path, [&] { read_modules_of(file.contents); });
        }
        for (const File& file : files) {
            named(file.argument.path, [&] { read(file.argument, file.contents); });
        }
    }

    std::span<const ModuleSpan> modules() const { return modules_; }

private:
    template <typename Do>
    static void named(const std::string& path, Do action) {
        try {
            action();
        } catch (const Error& error) {
            const std::string why = error.what();
            throw Error(error.status(),
                        why.find(path) == std::string::npos ? path + ": " + why : why);
        }
    }

    void read_modules_of(const Contents& contents) {
        if (contents.kind() == Contents::Kind::modules) {
            for (ModuleSpan& span : read_modules(contents.text())) {
                modules_.push_back(std::move(span));
            }
        }
    }

    void read(const Argument& argument, const Contents& contents) {
        switch (contents.kind()) {
        case Contents::Kind::elf: read_elf(argument, contents); break;
        case Contents::Kind::kallsyms:
            receiver_.list(Trust::text, read_kallsyms(contents.text()));
            break;
        case Contents::Kind::image:
            receiver_.list(Trust::image, read_kernel_image(contents.bytes()).symbols);
            break;
        case Contents::Kind::modules: break;
        }
    }

    void read_elf(const Argument& argument, const Contents& contents) {
        auto elf = std::make_unique<ElfFile>(contents.file());
        if (elf->relocatable()) {
            const std::string name = module_name(argument.path);
            const auto base = argument.address ? argument.address : base_of(name);
            if (!base) {
                return receiver_.unplaced(name, std::move(elf));
            }
            elf->place(*base, name);
        }
        receiver_.elf(std::move(elf));
    }

    std::optional<std::uint32_t> base_of(const std::string& module) const {
        const auto span = std::find_if(modules_.begin(), modules_.end(),
                                       [&](const ModuleSpan& each) { return each.name == module; });
        return span == modules_.end() ? std::nullopt : std::optional(span->base);
    }

    Receiver receiver_;
    std::vector<ModuleSpan> modules_;
};

} // namespace

void add_files(Symbols& to, ModuleFiles& unplaced, std::span<const std::string> arguments) {
    const Receiver receiver{
        [&to](std::unique_ptr<ElfFile> elf) { to.add(Trust::elf, std::move(elf)); },
        [&to](Trust trust, SymbolList list) {
            to.add(trust, std::make_unique<FunctionTable>(std::move(list)));
        },
        [&unplaced](const std::string& module, std::unique_ptr<ElfFile> elf) {
            unplaced.add(module, std::move(elf));
        }};
    SymbolFilesReader reader(receiver);
    reader.read_all(arguments);
    for (const ModuleSpan& span : reader.modules()) {
        to.add_module(span);
    }
}

SymbolList symbols_of(std::span<const std::string> arguments, ElfFiles& files) {
    SymbolList all;
    const auto into = std::back_inserter(all);
    const Receiver receiver{[&](std::unique_ptr<ElfFile> elf) {
                                std::ranges::move(elf->symbols(), into);
                                files.push_back(std::move(elf));
                            },
                            [&](Trust, SymbolList list) { std::ranges::move(list, into); },
                            [](const std::string&, const std::unique_ptr<ElfFile>&) {
                                throw bad_input("this is a module, and its address is not "
                                                "known: use FILE@ADDRESS");
                            }};
    SymbolFilesReader(receiver).read_all(arguments);
    return all;
}

std::vector<std::byte> section_of(std::span<const std::string> arguments) {
    ElfFiles files;
    return pack(symbols_of(arguments, files));
}

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
