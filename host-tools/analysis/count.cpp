#include "analysis/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::analysis {

namespace {

template <typename... Args>
void set(std::string& to, fmt::format_string<Args...> text, Args&&... args) {
    to.clear();
    fmt::format_to(std::back_inserter(to), text, std::forward<Args>(args)...);
}

void set_function(std::string& to, const Location* location, std::uint32_t address) {
    if (location == nullptr) {
        set(to, "{:#010x}", address);
    } else if (location->function.empty()) {
        set(to, "[{}]", location->module);
    } else if (location->module.empty()) {
        to = location->function;
    } else {
        set(to, "{} [{}]", location->function, location->module);
    }
}

void set_register(std::string& to, const Event& event) {
    if (event.reg() != nullptr) {
        set(to, "{} {}", event.device(), event.reg()->name);
    } else {
        set(to, "{} +{:#05x}", event.device(), event.offset());
    }
}

void set_interrupt(std::string& to, const Event& event) {
    if (event.interrupt_id() != no_id) {
        to = event.interrupt();
    } else if (event.record.type == abi::RecordType::interrupt) {
        set(to, "interrupt {}", event.record.value);
    } else {
        to.clear();
    }
}

// Empty: the event is none of what is counted.
void set_name(std::string& to, const Event& event, Key key) {
    const abi::Record& record = event.record;
    switch (key) {
    case Key::device: to = event.device(); return;
    case Key::reg: set_register(to, event); return;
    case Key::function: set_function(to, event.code(), record.pc); return;
    case Key::caller: // the function itself, where nothing tells more
        set_function(to, event.caller() != nullptr ? event.caller() : event.code(), record.lr);
        return;
    case Key::task:
        if (event.task() != nullptr) {
            set(to, "{}:{}", event.task()->comm, event.task()->pid);
        } else {
            set(to, "{:#010x}", record.task);
        }
        return;
    case Key::cpu: set(to, "cpu{}", record.cpu); return;
    case Key::interrupt: set_interrupt(to, event); return;
    case Key::size: set(to, "{} bytes", abi::access_size(record)); return;
    }
}

} // namespace

std::string_view key_text(Key key) {
    static constexpr std::string_view words[] = {"device", "register", "function",  "caller",
                                                 "task",   "cpu",      "interrupt", "size"};
    return words[static_cast<unsigned>(key)];
}

std::vector<std::string> key_words() {
    std::vector<std::string> words;
    for (const Key key : all_keys()) {
        words.emplace_back(key_text(key));
    }
    return words;
}

const std::vector<Key>& all_keys() {
    static const std::vector<Key> all = {Key::device, Key::reg, Key::function,  Key::caller,
                                         Key::task,   Key::cpu, Key::interrupt, Key::size};
    return all;
}

constexpr std::size_t most_recent = 2048;

Counts::Counts(Key key) : key_(key), recent_(most_recent) {}

void Counts::add(const Event& event) {
    const abi::RecordType type = event.record.type;
    const bool counted = type == abi::RecordType::access ||
                         (key_ == Key::interrupt && type == abi::RecordType::interrupt);
    if (!counted) {
        return;
    }
    const std::uint64_t context = key_ == Key::cpu ? event.record.cpu + 1u : event.context();
    Recent& recent = recent_[context % most_recent];
    // Neither what an interrupt is called nor an unnamed LR is of the context.
    if (recent.context != context || context == 0 || key_ == Key::interrupt ||
        (key_ == Key::caller && event.code_id() == no_id)) {
        recent = {context, find(event)};
    }
    if (recent.count != nullptr) {
        recent.count->add(event);
    }
}

Count* Counts::find(const Event& event) {
    set_name(name_, event, key_);
    if (name_.empty()) {
        return nullptr;
    }
    auto found = counts_.find(name_);
    if (found == counts_.end()) {
        found = counts_.emplace(name_, Count()).first;
    }
    return &found->second;
}

} // namespace mmioscope::analysis
