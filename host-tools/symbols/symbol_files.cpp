#include "symbols/symbol_files.hpp"

#include "symbols/elf_file.hpp"
#include "symbols/expand.hpp"
#include "symbols/function_table.hpp"
#include "symbols/kallsyms_text.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/module_list.hpp"
#include "symbols/section.hpp"
#include "symbols/symbol_contents.hpp"
#include "symbols/words.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

namespace mmioscope::symbols {

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

class Reader {
public:
    explicit Reader(Receiver receiver) : receiver_(std::move(receiver)) {}

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
    Reader reader(receiver);
    reader.read_all(arguments);
    for (const ModuleSpan& span : reader.modules()) {
        to.add_module(span);
    }
}

std::vector<std::byte> section_of(std::span<const std::string> arguments) {
    SymbolList all;
    const auto append = [&all](SymbolList list) {
        all.insert(all.end(), std::make_move_iterator(list.begin()),
                   std::make_move_iterator(list.end()));
    };
    const Receiver receiver{[&](const std::unique_ptr<ElfFile>& elf) { append(elf->symbols()); },
                            [&](Trust, SymbolList list) { append(std::move(list)); },
                            [](const std::string&, const std::unique_ptr<ElfFile>&) {
                                throw bad_input("this is a module, and its address is not "
                                                "known: use FILE@ADDRESS");
                            }};
    Reader(receiver).read_all(arguments);
    return pack(all);
}

} // namespace mmioscope::symbols
