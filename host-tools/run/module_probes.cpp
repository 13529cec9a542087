#include "run/module_probes.hpp"

#include "linux/kernel_finder.hpp"
#include "linux/module_watch.hpp"
#include "run/probes.hpp"
#include "system/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace mmioscope::run {

namespace {

using abi::control::Mailbox;
using namespace std::chrono_literals;

using Words = std::array<std::uint32_t, 4>; // a Request, a Reply

} // namespace

ModuleProbes::ModuleProbes(const std::vector<std::string>& patterns, std::uint32_t flags,
                           std::span<std::byte> ram, std::uint64_t base, std::uint64_t mailbox)
    : patterns_(patterns), flags_(flags), memory_(ram, base),
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
        const auto functions = loaded ? reader.functions(module, loaded->text, most_bytes)
                                      : std::vector<linux_guest::Module::Function>();
        const auto find = [&](const std::string& pattern) {
            std::vector<control::Instruction> found;
            std::set<std::uint32_t> seen;
            for (const auto& function : functions) {
                const auto word = kernel->space.word(function.address); // none: in Thumb state
                if (fits(pattern, name_, function.name) && word &&
                    seen.insert(function.address).second) {
                    found.push_back({function.address, *word, flags_});
                    used_.insert(pattern);
                }
            }
            return found;
        };
        std::vector<std::string> words = patterns_;
        words.insert(words.begin(), "probe");
        std::ranges::copy(control::asks_of(words, {}, find), std::back_inserter(asks_));
    }
    asks_.push_back({abi::control::Command::probe}); // there are no more
    send();
}

void ModuleProbes::send() {
    const control::Ask& ask = asks_.front();
    const auto request = abi::control::make_request(ask.command, ++id_, ask.first, ask.second);
    const auto words = std::bit_cast<Words>(request);
    for (std::size_t i = 0; i < words.size(); ++i) {
        mailbox_[offsetof(Mailbox, request) / 4 + i] = words[i];
    }
}

/// The hypervisor looks again and again, if the guest's CPU runs.
bool ModuleProbes::answered() {
    Words words;
    for (const auto give_up = Clock::now() + 2ms; Clock::now() < give_up;) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = mailbox_[offsetof(Mailbox, reply) / 4 + i];
        }
        const auto reply = std::bit_cast<abi::control::Reply>(words);
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
    for (const std::string& pattern : patterns_) {
        if (!used_.contains(pattern.substr(0, pattern.find(',')))) {
            print_message("mmioscope: --probe {}: no module that was loaded has such a function\n",
                          pattern);
        }
    }
}

} // namespace mmioscope::run
