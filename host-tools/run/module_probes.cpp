#include "run/module_probes.hpp"

#include "linux/kernel_finder.hpp"
#include "linux/module_watch.hpp"
#include "system/message.hpp"

#include <fnmatch.h>

#include <array>
#include <atomic>
#include <cstring>

namespace mmioscope::run {

namespace {

using abi::control::Mailbox;
using namespace std::chrono_literals;

bool fits(const std::string& pattern, const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

constexpr std::size_t words_of(std::size_t bytes) {
    return bytes / sizeof(std::uint32_t);
}

} // namespace

ModulePattern::ModulePattern(std::string_view text)
    : module(text.substr(0, text.find(':'))), function(text.substr(text.find(':') + 1)) {}

ModuleProbes::ModuleProbes(const std::vector<std::string>& patterns, std::uint32_t flags,
                           std::span<std::byte> ram, std::uint64_t base, std::uint64_t mailbox)
    : patterns_(patterns.begin(), patterns.end()), flags_(flags), memory_(ram, base),
      mailbox_(reinterpret_cast<volatile std::uint32_t*>(&ram[mailbox - base])) {}

// All of the guest's memory is hostile: each address is checked.
void ModuleProbes::look_at(std::uint32_t module) {
    constexpr std::size_t most_bytes = 8 << 20;
    module_ = module;
    refused_ = 0;
    asks_.clear();
    if (const auto kernel = linux_guest::KernelFinder(memory_).find()) {
        linux_guest::ModuleReader reader(*kernel);
        const auto loaded = reader.read(module);
        name_ = loaded ? loaded->name : "";
        std::set<std::uint32_t> seen;
        for (const auto& function : loaded ? reader.functions(module, loaded->text, most_bytes)
                                           : std::vector<linux_guest::Module::Function>()) {
            bool wanted = false;
            for (ModulePattern& pattern : patterns_) {
                const bool is =
                    fits(pattern.module, name_) && fits(pattern.function, function.name);
                pattern.used |= is;
                wanted |= is;
            }
            const auto word = kernel->space.word(function.address); // none: in Thumb state
            if (wanted && word && seen.insert(function.address).second) {
                asks_.push_back(control::probe_of({function.address, *word, flags_}));
            }
        }
    }
    asks_.push_back({abi::control::Command::probe}); // there are no more
    send();
}

void ModuleProbes::send() {
    const control::Ask& ask = asks_.front();
    const auto request = abi::control::make_request(ask.command, ++id_, ask.first, ask.second);
    std::array<std::uint32_t, words_of(sizeof request)> words;
    std::memcpy(words.data(), &request, sizeof request);
    for (std::size_t i = 0; i < words.size(); ++i) {
        mailbox_[words_of(offsetof(Mailbox, request)) + i] = words[i];
    }
}

/// The hypervisor looks again and again, if the guest's CPU runs.
bool ModuleProbes::answered() {
    abi::control::Reply reply;
    std::array<std::uint32_t, words_of(sizeof reply)> words;
    for (const auto give_up = Clock::now() + 2ms; Clock::now() < give_up;) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = mailbox_[words_of(offsetof(Mailbox, reply)) + i];
        }
        std::memcpy(&reply, words.data(), sizeof reply);
        if (reply.id == id_ && reply.check == abi::control::check_of(reply)) {
            refused_ += reply.status != abi::control::Status::done;
            return true;
        }
    }
    return false;
}

void ModuleProbes::pass() {
    if (patterns_.empty()) {
        return;
    }
    if (const std::uint32_t waits = mailbox_[0]; waits != 0 && waits != module_) {
        look_at(waits);
    }
    while (module_ != 0 && answered()) {
        asks_.pop_front();
        if (!asks_.empty()) {
            send();
            continue;
        }
        if (refused_ > 0) {
            print_message("mmioscope: {}: {} functions cannot have a probe\n", name_, refused_);
        }
        module_ = 0;
    }
}

void ModuleProbes::finish() const {
    for (const ModulePattern& pattern : patterns_) {
        if (!pattern.used) {
            print_message(
                "mmioscope: --probe {}:{}: no module that was loaded has such a function\n",
                pattern.module, pattern.function);
        }
    }
}

} // namespace mmioscope::run
