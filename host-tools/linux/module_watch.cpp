#include "linux/module_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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
            before == written_.end() || before->second != *module) {
            if (text.size() >= most_of_look) {
                continue; // until the next look
            }
            Module whole = *module;
            whole.functions =
                reader_.functions(at, module->text, kept < most_of_all ? most_of_module : 0);
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

} // namespace mmioscope::linux_guest
