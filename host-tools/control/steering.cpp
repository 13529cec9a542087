#include "control/steering.hpp"

#include "abi/control_check.hpp"
#include "abi/ring.hpp"
#include "records/record_text.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

namespace mmioscope::control {

namespace {

using abi::control::Command;
using abi::control::Reply;
using abi::control::Status;

/// Sends requests with unique ids: the pieces of a text have consecutive ids.
class Asker {
public:
    explicit Asker(Channel& channel)
        : channel_(channel), id_(static_cast<std::uint16_t>(std::random_device()())) {}

    // Code of a module that the process which runs has not mapped: until another one runs.
    Reply send(const Ask& ask) {
        Reply reply;
        do {
            reply =
                channel_.ask(abi::control::make_request(ask.command, id_++, ask.first, ask.second));
        } while (reply.status == Status::other_code && ask.of_module && --tries_ > 0);
        return reply;
    }

    Reply ask(const Ask& ask) {
        const Reply reply = send(ask);
        if (reply.status != Status::done) {
            throw failure("refused: {}", status_text(reply.status));
        }
        return reply;
    }

    /// Each word in its own request: the guest's CPUs run in between.
    abi::Statistics statistics(std::uint32_t cpu) {
        std::array<std::uint64_t, sizeof(abi::Statistics) / 8> words;
        for (std::uint32_t word = 0; word < words.size(); ++word) {
            const Reply reply = ask({Command::statistic, word, cpu});
            words[word] = reply.value[0] | std::uint64_t{reply.value[1]} << 32;
        }
        return std::bit_cast<abi::Statistics>(words);
    }

private:
    Channel& channel_;
    std::uint16_t id_;
    int tries_ = 300; ///< in vain, of all requests
};

std::string status_text(const Reply& reply) {
    return fmt::format("tracing is {}; {} CPUs, {} regions\n",
                       (reply.value[1] & 0x100) != 0 ? "on" : "off", reply.value[1] & 0xff,
                       reply.value[0]);
}

std::string statistics_text(Asker& asker) {
    const std::uint32_t cpus = asker.ask({Command::describe}).value[1] & 0xff;
    std::string lines = fmt::format("{:<14}", "");
    std::vector<abi::Statistics> counted;
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        lines += fmt::format("{:>12}", fmt::format("cpu {}", cpu));
        counted.push_back(asker.statistics(cpu));
    }
    lines += "\n";
    const auto row = [&](const char* name, const auto member) {
        lines += fmt::format("{:<14}", name);
        for (const abi::Statistics& of_cpu : counted) {
            lines += fmt::format("{:>12}", of_cpu.*member);
        }
        lines += "\n";
    };
    row("traps", &abi::Statistics::traps);
    row("stepped", &abi::Statistics::stepped);
    row("emulated", &abi::Statistics::emulated);
    row("emulated, user", &abi::Statistics::emulated_user);
    row("unselected", &abi::Statistics::unselected);
    row("retries", &abi::Statistics::retries);
    row("lock spins", &abi::Statistics::lock_spins);
    row("abnormal", &abi::Statistics::abnormal);
    row("filtered", &abi::Statistics::filtered);
    return lines;
}

/// Of many functions some have been freed, or cannot be probed: goes on with the others.
std::string change_probes(Asker& asker, std::span<const Ask> asks) {
    std::string refused;
    std::size_t done = 0;
    std::size_t all = 0;
    for (const Ask& ask : asks) {
        if (abi::control::is_of_next_probes(ask.command)) {
            asker.ask(ask);
            continue;
        }
        ++all;
        const Reply reply = asker.send(ask);
        if (reply.status == Status::done) {
            ++done;
        } else {
            refused +=
                fmt::format("{:#x}: refused: {}\n", ask.first, control::status_text(reply.status));
        }
    }
    return refused + fmt::format("{} of {} functions\n", done, all);
}

} // namespace

std::string status_text(Status status) {
    static constexpr std::array<const char*, 17> words = {
        "done",
        "the request was damaged in transit",
        "the hypervisor speaks another version of the protocol",
        "the hypervisor does not know this command",
        "an argument is not valid",
        "no device has these addresses",
        "the range ends inside a region that can only change as a whole",
        "this cannot change while the guest runs",
        "a CPU's TLB cannot be invalidated (Cortex-A15 erratum 798181)",
        "the unprotect engine takes no commands",
        "the ring buffer is full, so the change could not be recorded: try again",
        "not available: no stream, no room for a snapshot, no guest yet, no probes "
        "(run --probes), or no watched memory (run --watches)",
        "another instruction is there: is it this kernel, and has it begun?",
        "no probe is there",
        "this instruction cannot have a probe",
        "no watched memory is there",
        "that is not all memory of the guest, or some of it has another use: a probe, a device"};
    const auto index = static_cast<std::size_t>(status);
    return index < words.size() ? words[index] : fmt::format("status {}", index);
}

std::string carry_out(std::span<const std::string> words, const FindDevice& find, Channel& channel,
                      const FindCode& code) {
    Asker asker(channel);
    std::string lines;
    const std::vector<Ask> asks = asks_of(words, find, code);
    const auto probes = std::ranges::count_if(asks, [](const Ask& ask) {
        return ask.command == Command::probe || ask.command == Command::unprobe;
    });
    if (probes > 1) {
        return change_probes(asker, asks);
    }
    for (const Ask& ask : asks) {
        if (ask.command == Command::statistic) {
            lines += statistics_text(asker);
        } else if (ask.command == Command::probe_hits) {
            const Reply hits = asker.ask(ask);
            lines +=
                fmt::format("{:#x}: {}\n", ask.first,
                            trace::hits_text(hits.value[0] | std::uint64_t{hits.value[1]} << 32));
        } else if (const Reply reply = asker.ask(ask); ask.command == Command::describe) {
            lines += status_text(reply);
        }
    }
    return lines;
}

} // namespace mmioscope::control
