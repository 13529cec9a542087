#include "rig.hpp"

#include "abi/layout.hpp"
#include "arch/control.hpp"
#include "bringup/bringup.hpp"
#include "guest/reset.hpp"
#include "guest_cpu.hpp"
#include "hyp_code.hpp"
#include "port/this_cpu.hpp"
#include "start/start.hpp"
#include "trap/fast_path.hpp"
#include "trap/panic.hpp"

namespace mmioscope::sim {

namespace {
constexpr std::uint32_t image = 0x8200'0000;
constexpr std::uint32_t vectors = 0x8001'8000;
constexpr std::uint32_t secondary_entry = 0x8001'0000;
constexpr std::uint32_t programs = 0x8002'0000;
constexpr std::uint32_t program_size = 0x1'0000;
constexpr unsigned tables = 384;
constexpr std::uint32_t state = image + 0x4'0000; // of the hypervisor, behind its constants
constexpr std::uint32_t pool = image + 0x10'0000;
static_assert(sizeof(Machine) <= pool - state);
} // namespace

RigOptions options_for(abi::EngineKind engine, unsigned cpus, std::uint64_t seed) {
    Random random(seed);
    RigOptions o;
    o.tree.cpus = o.conditions.cpus = cpus;
    constexpr const char* engines[] = {"shadow", "emulation", "unprotect"};
    o.tree.engine = engines[static_cast<unsigned>(engine)];
    o.conditions.seed = seed;
    constexpr unsigned switches[] = {1, 3, 10, 40};
    o.conditions.switch_one_in = switches[random.below(4)];
    o.conditions.steps_per_tick = random.one_in(2) ? 1 : 20;
    o.conditions.prefetch_abort_first = random.one_in(2);
    o.conditions.code_cached_by_pa = random.one_in(2);
    return o;
}

Rig::Rig(const RigOptions& o)
    : simulation(o.conditions), machine(new (simulation.ram.at({state})) Machine),
      boot_tree_(o.boot_tree), r2_(o.r2.value_or(o.boot_tree)), native_(o.native),
      read_when_(o.read_when), records_(o.conditions.cpus) {
    const Blob tree = o.blob.empty() ? make_board_tree(o.tree) : o.blob;
    std::memcpy(simulation.ram.at({boot_tree_}), tree.data(), tree.size());
    load_hyp_code(simulation);
    attach_devices();
    write_prologues();
    for (const std::uint32_t page :
         {at::sysreg, at::console, at::own_uart, at::fifo, at::gadget, at::wide, at::wide + 0x1000,
          programs, programs + program_size})
        simulation.speculated.push_back(page);
    simulation.leave_everything_mapped();
}

void Rig::attach_devices() {
    Bus& bus = simulation.bus;
    const auto place = [&bus](std::uint64_t begin, std::uint64_t size, std::unique_ptr<Device> d) {
        bus.attach({begin, begin + size}, std::move(d));
    };
    place(at::sysreg, 0x1000,
          std::make_unique<SystemRegisters>([this] { simulation.scheduler.stop(); }));
    place(at::own_uart, 0x1000, std::make_unique<UartSink>(text_));
    place(at::fifo, 0x1000, std::make_unique<Fifo>());
    place(at::gadget, 0x100, std::make_unique<Fifo>());
    place(at::neighbour, 0x100, std::make_unique<Scratch>());
    place(at::broken, 0x1000, std::make_unique<Broken>());
    for (const std::uint32_t begin : {at::sram, at::console, at::wide, at::hidden, at::gic})
        place(begin, 0x3000, std::make_unique<Scratch>());
}

/// The vectors count exceptions: undefined in r10, data aborts in r9, IRQs in r11, FIQs in r8_fiq.
/// A prefetch abort ends the program.
void Rig::write_prologues() {
    Ram& ram = simulation.ram;
    const std::uint32_t handlers = vectors + 0x20;
    Code table(ram, vectors);
    for (std::uint32_t i = 0; i < 8; ++i) table.b(handlers + 0x10 * i);
    const auto handler = [&](unsigned n) { return Code(ram, handlers + 0x10 * n); };
    for (const unsigned n : {0u, 2u, 3u, 5u}) handler(n).end();
    handler(1).add(10, 10, 1).subs(15, 14, 0);
    handler(4).add(9, 9, 1).subs(15, 14, 4);
    handler(6).add(11, 11, 1).subs(15, 14, 4);
    handler(7).add(8, 8, 1).subs(15, 14, 4);

    Code first(ram, at::kernel);
    first.mov(0, vectors).set_vbar(0);
    if (simulation.cores.size() > 1)
        first.mov(1, at::sysreg).mov(0, secondary_entry).str(0, 1, 0x30);
    first.mov(12, programs).bx(12);

    constexpr std::uint32_t read_mpidr_r0 = 0xee10'0fb0;
    constexpr std::uint32_t and_r0_r0_7 = 0xe200'0007;
    Code secondary(ram, secondary_entry);
    secondary.mov(0, vectors).set_vbar(0).word(read_mpidr_r0).word(and_r0_r0_7);
    secondary.mov(12, programs).add_reg(12, 12, 0, 16).bx(12);
    for (unsigned i = 0; i < simulation.cores.size(); ++i) program(i).end();
}

Code Rig::program(unsigned cpu) {
    return {simulation.ram, programs + cpu * program_size};
}

/// What boot/ does before it calls start_machine().
void Rig::prepare_machine() {
    constexpr std::uint32_t text_end = image + 0x2'0000;
    constexpr std::uint32_t constants_end = image + 0x3'0000;
    constexpr std::uint32_t data_end = pool + tables * page_size;
    machine->image = {.text = {image, text_end},
                      .constants = {text_end, constants_end},
                      .data = {constants_end, data_end},
                      .stacks = {data_end, data_end + 2 * abi::max_cpus * stack_size},
                      .area = {image + abi::area_offset, image + abi::area_offset},
                      .boot_tree = {image + abi::boot_tree_offset,
                                    image + abi::boot_tree_offset + abi::max_tree_size}};
    machine->services = list;
    machine->pool =
        TablePool(reinterpret_cast<lpae::Descriptor*>(simulation.ram.at({pool})), tables);
}

Frame Rig::start_hypervisor(Core& core, mmioscope::Cpu& cpu) {
    if (core.number != 0) return start_parked(*machine, cpu);
    machine->board = {};
    machine->board.uart = {UartModel::pl011, {at::own_uart}, 0, 2}; // as EARLY_UART of hyp/hyp.mk
    prepare_machine();
    const BootError failed = find_board(*machine, setup, r2_);
    const Frame frame = start_machine(*machine, setup, cpu, failed);
    simulation.hypervisor = machine.get();
    ready_ = true;
    return frame;
}

/// What a boot loader leaves, with stage 2 off: here, a flat table that maps everything and leaves
/// each memory type to stage 1.
Frame Rig::start_natively(Core& core) {
    constexpr std::uint64_t memory_block = 1 << 10 | 3 << 8 | 3 << 6 | 0xf << 2 | 1;
    for (std::uint64_t i = 0; i < 4; ++i)
        simulation.ram.store<std::uint64_t>(unknown_table + 8 * i, i << 30 | memory_block);
    core.tlb.forget({.by_hyp = true});
    core.icache_unknown = false;
    core.system.set<reg::SCTLR>(arch::sctlr_reset);
    for (unsigned n = 0; n < 6; ++n) core.system.set(encode32(14, 0, 0, n, 5), 0); // DBGBCRn
    for (unsigned n = 0; n < 4; ++n) core.system.set(encode32(14, 0, 0, n, 7), 0); // DBGWCRn
    return guest_start_frame(at::kernel, 0, ~0u, image - abi::guest_tree_room);
}

void Rig::run_cpu(unsigned number) {
    while (number != 0 && !ready_) simulation.scheduler.wait();
    mmioscope::Cpu& cpu = machine->cpus[number];
    cpu.number = number;
    cpu.machine = machine.get();
    port::set_this_cpu(&cpu);
    Core& core = simulation.cores[number];
    core.frame = native_ ? start_natively(core) : start_hypervisor(core, cpu);
    GuestCpu(simulation, core, cpu).run();
    if (at_end_.contains(number)) at_end_[number](core, cpu);
    if (!native_) close_fast_path(cpu); // as at one more trap
    cpu.debug.give_back();              // as if the guest accessed its debug registers at the end
    simulation.synchronize(core);
    simulation.complete_system(); // eventually everything arrives
}

bool Rig::drain(unsigned cpu) {
    auto* bytes = simulation.ram.at({machine->image.area.begin});
    auto* area = reinterpret_cast<abi::AreaHeader*>(bytes);
    if (area->magic != abi::area_magic) return false;
    auto* header = reinterpret_cast<abi::RingHeader*>(bytes + area->ring_offset[cpu]);
    const auto* slots = reinterpret_cast<const abi::Record*>(header + 1);
    abi::Reader& reader = header->readers[abi::host_reader];
    const bool anything = reader.tail != header->head;
    if (header->head - reader.tail > header->capacity)
        reader.tail = header->head - header->capacity;
    for (; reader.tail != header->head; ++reader.tail) {
        const abi::Record& record = slots[reader.tail % header->capacity];
        if (record.commit != abi::commit_word(header->boot_number, reader.tail))
            throw Failure{"a record below the head has another commit word"};
        records_[cpu].push_back(record);
    }
    return anything;
}

void Rig::run_reader() {
    for (;;) {
        bool anything = false;
        if (ready_ && read_when_(*this))
            for (unsigned i = 0; i < records_.size(); ++i) anything |= drain(i);
        if (anything) simulation.scheduler.point();
        else simulation.scheduler.wait();
    }
}

void Rig::run() {
    for (unsigned i = 0; i < simulation.cores.size(); ++i)
        simulation.scheduler.add([this, i] { run_cpu(i); });
    if (read_when_) simulation.scheduler.add([this] { run_reader(); });
    simulation.scheduler.run();
    if (ready_ && failure().empty())
        for (unsigned i = 0; i < records_.size(); ++i) drain(i);
}

std::vector<abi::Record> Rig::records_of(abi::RecordType type) const {
    std::vector<abi::Record> found;
    for (const auto& of_cpu : records_)
        for (const abi::Record& r : of_cpu)
            if (r.type == type) found.push_back(r);
    return found;
}

const abi::RingHeader& Rig::ring(unsigned cpu) const {
    const auto* bytes = simulation.ram.at({machine->image.area.begin});
    const auto* area = reinterpret_cast<const abi::AreaHeader*>(bytes);
    return *reinterpret_cast<const abi::RingHeader*>(bytes + area->ring_offset[cpu]);
}

std::vector<BusAccess> Rig::bus_log(std::uint64_t begin, std::uint64_t size) const {
    std::vector<BusAccess> found;
    for (const BusAccess& access : simulation.bus.log())
        if (access.address >= begin && access.address < begin + size) found.push_back(access);
    return found;
}
std::vector<BusAccess> Rig::stores_to(std::uint64_t begin, std::uint64_t size) const {
    std::vector<BusAccess> found = bus_log(begin, size);
    std::erase_if(found, [](const BusAccess& access) { return !access.write; });
    return found;
}

} // namespace mmioscope::sim

// Of whichever machine the running CPU belongs to.
const mmioscope::Board& mmioscope::board_of_machine() {
    static const Board none;
    const auto* cpu = static_cast<const Cpu*>(port::this_cpu());
    return cpu != nullptr && cpu->machine != nullptr ? cpu->machine->board : none;
}
