#include "stream/stream_service.hpp"

#include "abi/chosen.hpp"
#include "board/board.hpp"
#include "dt/uart.hpp"
#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "start/setup.hpp"

#include <utility>

namespace mmioscope {

namespace {

/// log2 of the largest power of two ticks that is no longer than `quantum` ns.
unsigned time_shift(std::uint32_t quantum, std::uint32_t frequency) {
    const std::uint64_t ticks = std::uint64_t{quantum} * frequency / 1'000'000'000;
    unsigned shift = 0;
    while (shift < abi::max_time_shift && (ticks >> shift) > 1) ++shift;
    return shift;
}

void add_aliases(const Tree& tree, DescriptionWriter& to) {
    const int aliases = tree.find("/aliases");
    if (aliases < 0) return;
    Property alias;
    for (std::size_t place = tree.first_property(aliases); tree.next_property(place, alias);)
        if (const char* path = alias.text()) to.add_alias(alias.name, path);
}

} // namespace

BootError StreamService::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    const int chosen = tree.find("/chosen");
    if (!tree.has(chosen, abi::chosen::stream)) return read_stream_options(tree, options_);
    Config& config = machine.config;
    if (config.guest_reader)
        return {"mmioscope,guest-reader and mmioscope,stream exclude each other", ""};
    if (auto e = read_stream_options(tree, options_)) return e;
    if (!tree.has(chosen, abi::chosen::host_reader)) config.host_reader = false;
    machine.worker = this;
    // A guest that halts gives no other sign, and must take the slow path for it. Only this
    // register: exclusives to the others must work (trap/abort.cpp).
    const std::uint64_t sgir = machine.board.gic_distributor.value + gicd_sgir;
    if (machine.board.gic_distributor.value != 0 &&
        !machine.map.hook({sgir, sgir + 4}, machine_register_hooks))
        return {"too many devices for the region map", ""};
    return take_uart(machine, setup);
}

BootError StreamService::take_uart(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    Range range;
    const auto uart = uart_of(tree, options_.node);
    if (!uart || !tree.reg(options_.node, 0, range))
        return {"mmioscope,stream is not a PL011, an 8250, or one of i.MX", ""};
    const Span* span = machine.map.find({range.begin});
    if (options_.shared && !UartLine::can_share(uart->model))
        return {"mmioscope,stream-shared: console and stream cannot share an 8250", ""};
    uart_ = UartLine(*uart, options_.shared);
    if (options_.shared) return share_uart(machine, *uart);
    if (range.begin == machine.board.uart.base.value || span == nullptr)
        return {"mmioscope,stream is the UART of the hypervisor's own messages", ""};
    machine.regions[span->region].flags |= abi::region_stream;
    if (!machine.map.withhold(range) || !setup.withheld_nodes.push_back(options_.node))
        return {"too many devices for the region map", ""};
    return {};
}

/// The guest keeps it. All that it sends must trap, traced or not: see before().
BootError StreamService::share_uart(Machine& machine, const Uart& uart) {
    const Span* span = machine.map.find(uart.base);
    if (span == nullptr) return {"mmioscope,stream is not a device of the guest's", ""};
    machine.regions[span->region].flags |= abi::region_shared;
    data_register_ = UartLine::data_register(uart);
    if (!machine.map.hook(data_register_, *this))
        return {"too many devices for the region map", ""};
    return {};
}

BootError StreamService::start(Machine& machine, const Setup& setup) {
    if (options_.node < 0) return {};
    const std::uint32_t frequency = machine.area->counter_frequency;
    Line& uart = uart_.start(options_.baud);
    paced_line_ = PacedLine(uart, frequency, options_.paced ? options_.baud : 0);
    shared_line_ = SharedLine(paced_line_, frequency);
    Line& line = options_.shared ? static_cast<Line&>(shared_line_) : paced_line_;
    const unsigned shift = time_shift(options_.quantum, frequency);
    add_aliases(setup.tree, stream_.describe(*machine.area, shift));
    stream_.start(line, *machine.area, shift, abi::previous_boot(*machine.area));
    stream_.fold(options_.fold);
    if (!machine.control_page.empty() && !options_.shared) stream_.accept_requests();
    return {};
}

void StreamService::serve_line(Cpu& cpu) {
    RequestLine& requests = stream_.requests();
    const abi::control::Request* request = requests.take(cpu.number);
    if (request == nullptr) return;
    if (const auto reply = handler_.serve(cpu, *request)) requests.answer(*reply);
    else requests.later();
}

/// What the guest's store sends, if it may need a mark. The UART takes the lowest byte, whatever
/// the size of the store.
std::optional<std::uint8_t> StreamService::byte_sent(const Cpu& cpu, const Frame& frame) const {
    const DeviceAccess& access = cpu.trapped.access;
    if (!access.decoded) { // any byte may follow the mark
        if (access.write && !access.stage1_walk) return 0;
        return {};
    }
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat beat = cpu.trapped.beat(n);
        const std::uint64_t begin = beat.pa.value;
        if (!beat.write || !data_register_.overlaps({begin, begin + (1u << access.log2_size)}))
            continue;
        const auto byte = static_cast<std::uint8_t>(bus_value(frame, beat.value, access.log2_size));
        if (abi::shared_wire::needs_mark(byte)) return byte;
    }
    return {};
}

std::optional<Outcome> StreamService::before(Cpu& cpu, Frame& frame) {
    end_store(cpu);
    if (const auto byte = byte_sent(cpu, frame)) {
        shared_line_.begin_store(cpu.number, *byte);
        cpu.trapped.record.type = abi::RecordType::access; // what becomes of it: see end_store()
        cpu.work_done = false;                             // there is one behind the store
    }
    return {};
}

/// No step is armed, so a store that was begun is over. It has become a fault if it was not made.
void StreamService::end_store(Cpu& cpu) {
    if (!options_.shared) return;
    shared_line_.end_store(cpu.number, cpu.trapped.record.type == abi::RecordType::access);
}

// Requests are looked for less often than records, because nobody waits for them as much.
void StreamService::work(Cpu& cpu) {
    end_store(cpu);
    if (std::exchange(cpu.stopped_others, false))
        return stream_.finish(cpu.number, abi::StreamEnd::halted);
    stream_.wait_for_machine_end();
    std::uint8_t& turns = turns_[cpu.number].without_look;
    if (work_needs_all(cpu)) {
        turns = 0;
        serve_line(cpu);
    } else {
        ++turns;
    }
    stream_.work_a_little(cpu.number);
}

bool StreamService::work_needs_all(const Cpu& cpu) const {
    constexpr std::uint8_t turns_for_a_look = 2;
    return turns_[cpu.number].without_look + 1 >= turns_for_a_look;
}

bool StreamService::may_sleep(Cpu& cpu) {
    end_store(cpu);
    serve_line(cpu);
    return stream_.work_at_idle(cpu.number);
}

void StreamService::end(Cpu& cpu, MachineEnd how) {
    shared_line_.end_store(cpu.number, true); // a panic may come at any time
    switch (how) {
    case MachineEnd::off: return stream_.finish(cpu.number, abi::StreamEnd::machine_off);
    case MachineEnd::reset: return stream_.finish(cpu.number, abi::StreamEnd::machine_reset);
    case MachineEnd::panicked: return stream_.finish(cpu.number, abi::StreamEnd::panicked);
    }
}

} // namespace mmioscope
