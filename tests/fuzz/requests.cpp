// Requests are input, on whatever line they arrive: a damaged request must change nothing, a
// refused one must change nothing, and every change can be taken back. An input that begins with 1
// has commands and arguments: they get the check value that random bytes would never match.
#include "integrity/integrity.hpp"
#include "sim/changeable.hpp"
#include "sim/judge.hpp"
#include "stream/line.hpp"
#include "stream/request_line.hpp"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::Command;
using abi::control::make_request;
using abi::control::Reply;
using abi::control::Request;
using abi::control::Status;

using Bytes = std::span<const std::uint8_t>;

struct Incoming : Line {
    Bytes left;

    bool put(std::uint8_t) override { return false; }
    std::optional<std::uint8_t> get() override {
        if (left.empty()) return std::nullopt;
        const std::uint8_t byte = left.front();
        left = left.subspan(1);
        return byte;
    }
};

struct State : Changeable {
    explicit State(const Rig& rig)
        : Changeable(rig), stopped(rig.services.control.tracing_stopped()),
          chooses(rig.services.choice.any), stalls(rig.machine->cpus[0].ring.stalls()) {}

    bool operator==(const State&) const = default;
    /// But for what nobody looks at while it is switched off.
    bool as_good_as(const State& other) const {
        return map == other.map && tables == other.tables && stopped == other.stopped &&
               chooses == other.chooses && stalls == other.stalls;
    }

    bool stopped, chooses, stalls;
};

void expect(bool what) {
    if (!what) std::abort();
}

/// A machine that has booted, and whose guest stands still.
class Target {
public:
    Target() {
        rig_.run();
        requests_.start(line_);
        ask_for_all_back();
        before_.emplace(rig_);
    }

    /// Has the line bring these bytes.
    void hear(Bytes bytes) {
        line_.left = bytes;
        bool changed = false;
        while (!line_.left.empty()) {
            if (const Request* request = requests_.take(0)) changed |= answer(*request);
            Reply reply;
            requests_.take_reply(reply);
        }
        if (!changed) return;
        ask_for_all_back();
        expect(State(rig_).as_good_as(*before_));
        expect(!rig_.machine->changes.held());
        // Takes longer than all else. What is wrong once, stays so.
        if (++changes_ % 64 == 0)
            expect(rig_.services.integrity.find_damage(*rig_.machine)->name == nullptr);
    }

private:
    static RigOptions options() {
        RigOptions made = options_for(abi::EngineKind::shadow, 1, 1);
        made.conditions.step_limit = ~std::uint64_t{0};
        return made;
    }

    Reply carry_out(const Request& request) {
        const auto reply = execute(rig_.machine->cpus[0], request);
        rig_.simulation.complete_system(); // the test looks at memory itself
        expect(reply && reply->id == request.id && reply->check == check_of(*reply));
        empty_ring();
        return *reply;
    }

    /// Whether something may have changed.
    bool answer(const Request& request) {
        const State now(rig_);
        const Reply reply = carry_out(request);
        const bool done = reply.status == Status::done;
        expect(done || State(rig_) == now);
        requests_.answer(reply);
        return done;
    }

    void ask_for_all_back() {
        for (const Request& request :
             {make_request(Command::no_filter, 0), make_request(Command::no_trigger, 0),
              make_request(Command::policy, 0), make_request(Command::start, 0),
              make_request(Command::select, 0, abi::control::all_regions)})
            expect(carry_out(request).status == Status::done);
    }

    /// As a reader does. A change whose record finds no room is refused.
    void empty_ring() {
        std::byte* area = rig_.simulation.ram.at({rig_.machine->image.area.begin});
        const auto& header = *reinterpret_cast<const abi::AreaHeader*>(area);
        auto& ring = *reinterpret_cast<abi::RingHeader*>(area + header.ring_offset[0]);
        ring.readers[abi::host_reader].tail = ring.head;
    }

    Rig rig_{options()};
    Incoming line_;
    RequestLine requests_;
    std::optional<State> before_;
    unsigned changes_{};
};

/// Nine bytes for each: a command and its arguments.
std::vector<std::uint8_t> sound_requests(Bytes bytes) {
    std::vector<std::uint8_t> line;
    for (std::uint16_t id = 0; bytes.size() >= 9; bytes = bytes.subspan(9), ++id) {
        std::uint32_t arguments[2];
        std::memcpy(arguments, bytes.data() + 1, sizeof arguments);
        const Request request =
            make_request(static_cast<Command>(bytes[0]), id, arguments[0], arguments[1]);
        const auto* raw = reinterpret_cast<const std::uint8_t*>(&request);
        line.insert(line.end(), raw, raw + sizeof request);
    }
    return line;
}

} // namespace

#ifndef LLVMFuzzerTestOneInput // the fuzzer itself, not its inputs again among the unit tests
// The simulation notes what happens, and is there to the end: looking for leaks behind each input
// would take most of the time.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Target target;
    const Bytes bytes(data, size);
    if (size > 0 && data[0] == 1) target.hear(sound_requests(bytes.subspan(1)));
    else target.hear(bytes);
    return 0;
}
