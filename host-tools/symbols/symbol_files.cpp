#include "symbols/symbol_files.hpp"

#include "lib/error.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/expand.hpp"
#include "symbols/function_table.hpp"
#include "symbols/kallsyms_text.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/module_list.hpp"
#include "symbols/section.hpp"
#include "symbols/symbol_contents.hpp"
#include "symbols/words.hpp"

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

// As the kernel names a module by its file: "-" is "_".
std::string module_name(const std::string& path) {
    std::string name = std::filesystem::path(path).filename().string();
    name.resize(std::min(name.find(".ko"), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// What is done with what a file holds.
struct Receiver {
    std::function<void(std::unique_ptr<ElfFile>)> elf;
    std::function<void(Trust, SymbolList)> list;
};

class Reader {
public:
    Reader(Receiver receiver, std::span<const ModuleSpan> modules)
        : receiver_(std::move(receiver)), modules_(modules.begin(), modules.end()) {}

    void read_all(std::span<const std::string> arguments) {
        std::vector<File> files;
        for (const std::string& text : arguments) {
            const Argument argument = parse(text);
            named(argument.path, [&] { files.push_back({argument, Contents(argument.path)}); });
        }
        // Lists of modules first: they say where the others lie, wherever they were named.
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
            elf->place(argument.address ? *argument.address : base_of(name), name);
        }
        receiver_.elf(std::move(elf));
    }

    std::uint32_t base_of(const std::string& module) const {
        const auto span = std::find_if(modules_.begin(), modules_.end(),
                                       [&](const ModuleSpan& each) { return each.name == module; });
        if (span == modules_.end()) {
            throw bad_input("a module, and where it was loaded is not known: say FILE@ADDRESS");
        }
        return span->base;
    }

    Receiver receiver_;
    std::vector<ModuleSpan> modules_;
};

} // namespace

void add_files(Symbols& to, std::span<const std::string> arguments,
               std::span<const ModuleSpan> modules) {
    const Receiver receiver{
        [&to](std::unique_ptr<ElfFile> elf) { to.add(Trust::elf, std::move(elf)); },
        [&to](Trust trust, SymbolList list) {
            to.add(trust, std::make_unique<FunctionTable>(std::move(list)));
        }};
    Reader reader(receiver, modules);
    reader.read_all(arguments);
    for (const ModuleSpan& span : reader.modules().subspan(modules.size())) {
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
                            [&](Trust, SymbolList list) { append(std::move(list)); }};
    Reader(receiver, {}).read_all(arguments);
    return pack(all);
}

} // namespace mmioscope::symbols
