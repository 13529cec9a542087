#include "control/steering.hpp"

#include "abi/ring.hpp"
#include "system/error.hpp"

#include <array>
#include <cstring>
#include <random>

namespace mmioscope::control {

namespace {

using abi::control::Command;
using abi::control::Reply;
using abi::control::Status;

/// Asks with ids of their own: the pieces of a text have ids in a row.
class Asker {
public:
    explicit Asker(Channel& channel)
        : channel_(channel), id_(static_cast<std::uint16_t>(std::random_device()())) {}

    Reply ask(const Ask& ask) {
        const Reply reply =
            channel_.ask(abi::control::make_request(ask.command, id_++, ask.first, ask.second));
        if (reply.status != Status::done) {
            throw failure("refused: {}", status_text(reply.status));
        }
        return reply;
    }

    std::uint64_t statistic(std::uint32_t word, std::uint32_t cpu) {
        const Reply reply = ask({Command::statistic, word, cpu});
        return reply.value[0] | std::uint64_t{reply.value[1]} << 32;
    }

private:
    Channel& channel_;
    std::uint16_t id_;
};

std::string tell_status(const Reply& reply) {
    return fmt::format("tracing is {}; {} CPUs, {} regions\n",
                       (reply.value[1] & 0x100) != 0 ? "on" : "off", reply.value[1] & 0xff,
                       reply.value[0]);
}

std::string tell_statistics(Asker& asker) {
    static constexpr std::array<const char*, sizeof(abi::Statistics) / 8> names = {
        "traps",   "stepped",    "emulated", "unselected",
        "retries", "lock spins", "abnormal", "filtered"};
    const std::uint32_t cpus = asker.ask({Command::describe}).value[1] & 0xff;
    std::string lines = fmt::format("{:<12}", "");
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        lines += fmt::format("{:>12}", fmt::format("cpu {}", cpu));
    }
    lines += "\n";
    for (std::uint32_t word = 0; word < names.size(); ++word) {
        lines += fmt::format("{:<12}", names[word]);
        for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
            lines += fmt::format("{:>12}", asker.statistic(word, cpu));
        }
        lines += "\n";
    }
    return lines;
}

} // namespace

std::string status_text(Status status) {
    static constexpr std::array<const char*, 12> words = {
        "done",
        "the request was damaged on its way",
        "the hypervisor speaks another version of the protocol",
        "the hypervisor does not know this command",
        "an argument makes no sense to the hypervisor",
        "no device is there",
        "the range has an end inside of what can only change as a whole",
        "this cannot change while the guest runs",
        "this CPU cannot be told to forget translations (Cortex-A15 erratum 798181)",
        "the unprotect engine changes its tables by itself",
        "the ring is full: the change could not be recorded, try again",
        "what it is about is not there"};
    const auto index = static_cast<std::size_t>(status);
    return index < words.size() ? words[index] : fmt::format("status {}", index);
}

std::string carry_out(std::span<const std::string> words, const FindDevice& find,
                      Channel& channel) {
    Asker asker(channel);
    std::string lines;
    for (const Ask& ask : asks_of(words, find)) {
        if (ask.command == Command::statistic) {
            lines += tell_statistics(asker);
        } else if (const Reply reply = asker.ask(ask); ask.command == Command::describe) {
            lines += tell_status(reply);
        }
    }
    return lines;
}

} // namespace mmioscope::control
