#include "linux/module_watch.hpp"

#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <unordered_set>

namespace mmioscope::linux_guest {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds pause = 250ms, urgent_pause = 2ms;

// Limits for text about modules: for one module; for one look, after which no other module is begun
// (both together are less than a section may have); and for all of them.
constexpr std::size_t most_of_module = 8 << 20, most_of_look = 4 << 20, most_of_all = 64 << 20;

symbols::FunctionTable table_of(const Module& module) {
    symbols::SymbolList list;
    for (const Module::Function& function : module.functions) {
        list.push_back({function.address & ~1u, function.type, function.name, module.name});
    }
    for (const AddressRange& range : module.text) { // after the last function of each
        list.push_back({range.base + range.size, 'D', "", module.name});
    }
    return symbols::FunctionTable(std::move(list));
}

std::string text_of(const Module& module, std::uint64_t time) {
    std::string text;
    auto out = std::back_inserter(text);
    fmt::format_to(out, "module {} {:08x} {} {} {}\n", module.name, module.base, module.size,
                   module.live ? "live" : "loading", time);
    for (const AddressRange& range : module.text) {
        fmt::format_to(out, "text {:08x} {}\n", range.base, range.size);
    }
    for (const Module::Function& function : module.functions) {
        fmt::format_to(out, "{:08x} {} {} [{}]\n", function.address, function.type, function.name,
                       module.name);
    }
    module.frames.each([&](std::uint32_t start, symbols::Opcodes opcodes) {
        fmt::format_to(out, "frame {:08x} {:02x}{}\n", start, fmt::join(opcodes, ""),
                       opcodes.empty() ? "-" : "");
    });
    return text;
}

} // namespace

void ModuleWatch::meet(std::uint64_t time, Clock::time_point now) {
    if (now >= next_urgent_) {
        look(time, now);
    }
}

void ModuleWatch::look_around(std::uint64_t time, Clock::time_point now) {
    if (now >= next_look_) {
        look(time, now);
    }
}

std::optional<symbols::Extent> ModuleWatch::function(std::uint32_t address) const {
    for (const auto& [at, functions] : functions_) {
        if (const std::optional<symbols::Extent> extent = functions.table.extent(address)) {
            return extent;
        }
    }
    return std::nullopt;
}

symbols::Reach ModuleWatch::code() const {
    symbols::Reach reach;
    const auto add = [&reach](const AddressRange& range) {
        reach.add(range.base, std::uint64_t{range.base} + range.size);
    };
    add(reader_.area());
    std::for_each(text_.begin(), text_.end(), add);
    return reach;
}

bool ModuleWatch::known(std::uint32_t address) {
    if (last_.has(address)) {
        return true;
    }
    const auto range = std::find_if(text_.begin(), text_.end(),
                                    [address](const AddressRange& r) { return r.has(address); });
    if (range == text_.end()) {
        return false;
    }
    last_ = *range;
    return true;
}

void ModuleWatch::look(std::uint64_t time, Clock::time_point now) {
    next_look_ = now + pause;
    next_urgent_ = now + urgent_pause;
    const std::optional<std::vector<std::uint32_t>> modules = reader_.modules();
    if (!modules) {
        return; // next time
    }
    std::string text;
    std::map<std::uint32_t, Module> loaded;
    std::size_t kept = 0;
    for (const auto& [at, functions] : functions_) {
        kept += functions.bytes;
    }
    text_.clear();
    last_ = {0, 0};
    for (const std::uint32_t at : *modules) {
        std::optional<Module> module = reader_.read(at);
        if (!module) {
            continue;
        }
        text_.insert(text_.end(), module->text.begin(), module->text.end());
        if (const auto before = written_.find(at);
            before == written_.end() || !before->second.is_like(*module)) {
            if (text.size() >= most_of_look) {
                continue; // until the next look
            }
            Module whole = *module;
            whole.functions =
                reader_.functions(at, module->text, kept < most_of_all ? most_of_module : 0);
            whole.frames = frames_ ? reader_.frames(whole) : symbols::UnwindTable();
            const std::string list = text_of(whole, time);
            functions_.insert_or_assign(at, Functions{table_of(whole), list.size()});
            text += list;
            kept += list.size();
            ++changes_;
        }
        loaded.emplace(at, std::move(*module));
    }
    if (std::erase_if(functions_, [&](const auto& one) { return !loaded.contains(one.first); })) {
        ++changes_;
    }
    written_ = std::move(loaded);
    news_ += text;
}

namespace {

// struct module: state, list, name.
constexpr std::uint32_t list = 4, name = 12, name_size = 60, behind_name = name + name_size;
constexpr std::uint32_t alignment = 64;
constexpr std::uint32_t unformed = 3;        ///< a state; 0 is live
constexpr std::uint32_t most_offset = 0x400; ///< limit for members that are searched
constexpr std::uint32_t largest = 16u << 20;
constexpr std::size_t most_modules = 2048;
constexpr std::uint32_t most_symbols = 1u << 16, symbol_size = 16, longest_name = 256;

// struct module_layout, up to 6.3: base, size, text_size, two more sizes, mod_tree_node; then the
// same for the init part.
constexpr std::uint32_t layout_owner = 20, layout_size = 48;
// struct module_memory, since 6.4: base, size, mod_tree_node; text is the first of seven.
constexpr std::uint32_t part_owner = 8, part_size = 36, parts = 7, init_text = 4;

bool is_name(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    });
}

// Compilers make names with dots; ignore "$a" and the like.
bool is_function(const std::string& text) {
    return is_plain_word(text) && text.front() != '$';
}

} // namespace

ModuleReader::ModuleReader(const Kernel& kernel)
    : space_(kernel.space), area_{kernel.linear - largest, largest} {}

std::optional<std::vector<std::uint32_t>> ModuleReader::modules() {
    std::vector<std::uint32_t> found;
    if (head_ == 0) {
        const std::optional<std::uint32_t> one = look_for_one();
        // The head is the only member of the list that is not a module.
        std::uint32_t at = one.value_or(0);
        for (std::size_t i = 0; one && head_ == 0 && i < most_modules; ++i) {
            at = word(at + list).value_or(0) - list;
            head_ = is_module(at) ? 0 : at + list;
        }
        if (!one) {
            return found;
        }
    }
    std::optional<std::uint32_t> next = word(head_);
    while (next && *next != head_ && is_module(*next - list) && found.size() < most_modules) {
        found.push_back(*next - list);
        next = word(*next);
    }
    if (next != head_) {
        head_ = found.empty() ? 0 : head_; // it was not a list
        return std::nullopt;
    }
    return found;
}

std::optional<std::uint32_t> ModuleReader::look_for_one() const {
    constexpr std::uint32_t page = 0x1000;
    for (std::uint32_t offset = 0; offset < area_.size; offset += page) {
        if (!space_.physical(area_.base + offset)) {
            continue;
        }
        for (std::uint32_t in_page = 0; in_page < page; in_page += alignment) {
            if (is_module(area_.base + offset + in_page)) {
                return area_.base + offset + in_page;
            }
        }
    }
    return std::nullopt;
}

// Its neighbours in the list point to it, and so does its own kobject, which follows the name.
bool ModuleReader::is_module(std::uint32_t at) const {
    const std::optional<std::uint32_t> state = word(at), next = word(at + list),
                                       previous = word(at + list + 4);
    if (!state || *state > 3 || !next || !previous || word(*next + 4) != at + list ||
        word(*previous) != at + list) {
        return false;
    }
    const std::optional<std::string> text = space_.text(at + name, name_size);
    if (!text || !is_name(*text)) {
        return false;
    }
    for (std::uint32_t offset = behind_name; offset < behind_name + 80; offset += 4) {
        if (word(at + offset) == at) {
            return true;
        }
    }
    return false;
}

bool ModuleReader::has_memory(std::uint32_t module, std::uint32_t offset, bool in_parts) const {
    const std::optional<std::uint32_t> base = word(module + offset),
                                       size = word(module + offset + 4);
    return base && size && *base != 0 && *base % 0x1000 == 0 && *size != 0 && *size <= largest &&
           word(module + offset + (in_parts ? part_owner : layout_owner)) == module;
}

// struct mod_kallsyms: symtab, their number, strtab, typetab. The first symbol and the first name
// are empty.
bool ModuleReader::are_symbols(std::uint32_t at) const {
    const std::optional<std::uint32_t> symbols = word(at), count = word(at + 4),
                                       names = word(at + 8);
    return symbols && count && *count > 0 && *count <= most_symbols && word(*symbols) == 0u &&
           word(*symbols + 4) == 0u && names && space_.text(*names, 1) == "";
}

std::optional<ModuleReader::Layout> ModuleReader::layout_of(std::uint32_t module) const {
    Layout layout{0, 0, false};
    for (std::uint32_t offset = most_offset; offset >= behind_name; offset -= 4) {
        for (const bool in_parts : {true, false}) {
            if (has_memory(module, offset, in_parts)) {
                layout.memory = offset;
                layout.in_parts = in_parts;
            }
        }
        // The pointer to them, which points right behind itself except while the module is loading.
        if (are_symbols(module + offset + 4) && are_symbols(word(module + offset).value_or(0))) {
            layout.kallsyms = offset;
        }
    }
    return layout.memory != 0 && layout.kallsyms != 0 ? std::optional(layout) : std::nullopt;
}

std::optional<Module> ModuleReader::read(std::uint32_t module) {
    const std::optional<std::uint32_t> state = word(module);
    if (!state || *state == unformed) {
        return std::nullopt;
    }
    if (!layout_) {
        layout_ = layout_of(module);
    }
    const std::optional<std::string> text = space_.text(module + name, name_size);
    if (!layout_ || !text || !is_name(*text) ||
        !has_memory(module, layout_->memory, layout_->in_parts)) {
        return std::nullopt;
    }
    const std::uint32_t first = module + layout_->memory;
    Module result{*text, word(first).value_or(0), 0, state == 0u, {}, {}, {}};
    const std::uint32_t step = layout_->in_parts ? part_size : layout_size;
    for (std::uint32_t part = 0; part < (layout_->in_parts ? parts : 2); ++part) {
        const std::uint32_t at = first + part * step;
        const std::uint32_t size = std::min(word(at + 4).value_or(0), largest);
        const std::uint32_t code =
            layout_->in_parts ? size : std::min(word(at + 8).value_or(0), size);
        result.size += size;
        result.memory.push_back({word(at).value_or(0), size});
        if (code > 0 && (!layout_->in_parts || part == 0 || part == init_text)) {
            result.text.push_back({word(at).value_or(0), code});
        }
    }
    return result;
}

std::vector<Module::Function> ModuleReader::functions(std::uint32_t module,
                                                      const std::vector<AddressRange>& text,
                                                      std::size_t most_bytes) const {
    std::size_t bytes = 0;
    std::vector<Module::Function> functions;
    const std::uint32_t at = layout_ ? word(module + layout_->kallsyms).value_or(0) : 0;
    const std::uint32_t symbols = word(at).value_or(0), names = word(at + 8).value_or(0),
                        types = word(at + 12).value_or(0);
    const std::uint32_t count = std::min(word(at + 4).value_or(0), most_symbols);
    for (std::uint32_t i = 1; i < count && bytes < most_bytes; ++i) {
        bytes += symbol_size;
        const std::optional<std::uint32_t> name_at = word(symbols + i * symbol_size),
                                           address = word(symbols + i * symbol_size + 4),
                                           four = word((types + i) & ~3u);
        const char type = four ? static_cast<char>(*four >> ((types + i) % 4 * 8)) : '?';
        if (!name_at || !address || std::string_view("tTwW").find(type) == std::string_view::npos ||
            std::none_of(text.begin(), text.end(),
                         [&](auto& range) { return range.has(*address); })) {
            continue;
        }
        std::optional<std::string> function = space_.text(names + *name_at, longest_name);
        if (function && is_function(*function)) {
            bytes += function->size() + name_size; // each is followed by the module's name
            functions.push_back({*address, type, std::move(*function)});
        }
    }
    return functions;
}

symbols::UnwindTable ModuleReader::frames(const Module& module) const {
    std::unordered_set<std::uint32_t> starts;
    for (const Module::Function& function : module.functions) {
        starts.insert(function.address & ~1u);
    }
    symbols::UnwindTable all;
    for (const AddressRange& range : module.memory) {
        std::vector<std::uint32_t> words(range.size / 4);
        for (std::uint32_t i = 0; i < words.size(); ++i) {
            words[i] = word(range.base + 4 * i).value_or(0);
        }
        const auto begins_function = [&](std::uint32_t at) { return starts.contains(at); };
        symbols::UnwindTable(std::as_bytes(std::span(words)), range.base, 1, begins_function)
            .each([&](std::uint32_t at, symbols::Opcodes opcodes) { all.add(at, opcodes); });
    }
    all.sort();
    return all;
}

} // namespace mmioscope::linux_guest
