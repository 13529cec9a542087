// Valid and invalid requests: their replies, and that a refused one changes nothing.
#include "arch/errata.hpp"
#include "black_box/black_box.hpp"
#include "catch_2_or_3.hpp"
#include "sim/changeable.hpp"
#include "start/area.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;

namespace {

const RigOptions options = options_for(abi::EngineKind::shadow, 1, 1);

/// Everything that a command may change, and the ring's position.
struct Snapshot : Changeable {
    explicit Snapshot(const Rig& rig) : Changeable(rig), head(rig.ring(0).head) {}
    bool operator==(const Snapshot&) const = default;

    std::uint64_t head;
};

bool traps(const Rig& rig, std::uint64_t page) {
    return !lpae::is_valid(rig.machine->normal(0).lookup(page));
}

} // namespace

TEST_CASE("a request that cannot be carried out is refused with a reason and changes nothing") {
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        Request damaged = make_request(Command::stop, 1);
        damaged.id ^= 1;
        Request old = make_request(Command::stop, 1);
        old.version = 2;
        old.check = abi::control::check_of(old);
        const std::uint32_t regions = static_cast<std::uint32_t>(rig.machine->regions.size());
        const std::pair<Request, Status> cases[] = {
            {damaged, Status::damaged},
            {old, Status::other_version},
            {make_request(static_cast<Command>(64), 1), Status::unknown},
            {make_request(static_cast<Command>(255), 1), Status::unknown},
            {make_request(Command::hello, 1), Status::unavailable},
            {make_request(Command::snapshot, 1, 1), Status::argument},
            {make_request(Command::stop, 1, 1), Status::argument},
            {make_request(Command::select, 1, 0, 1), Status::argument},
            {make_request(Command::select, 1, regions), Status::no_device},
            {make_request(Command::select, 1, 0x1'0000), Status::no_device},
            {make_request(Command::select_range, 1, at::fifo, 0), Status::argument},
            {make_request(Command::select_range, 1, at::unnamed, 0x1000), Status::no_device},
            {make_request(Command::select_range, 1, at::fifo + 4, 4), Status::finer},
            {make_request(Command::deselect_range, 1, at::fifo, 0x1001), Status::done},
            {make_request(Command::select_range, 1, at::own_uart, 0x1000), Status::fixed},
            {make_request(Command::select_range, 1, at::sram, 0x3000), Status::fixed},
            {make_request(Command::select_range, 1, 0, 0xffff'ffff), Status::fixed},
            {make_request(Command::filter_directions, 1, 0), Status::argument},
            {make_request(Command::filter_directions, 1, 4), Status::argument},
            {make_request(Command::filter_addresses, 1, 0xffff'ffff, 2), Status::argument},
            {make_request(Command::filter_values, 1, 0xf, 0x10), Status::argument},
            {make_request(Command::filter_cpus, 1, 0), Status::argument},
            {make_request(Command::sample, 1, 0), Status::argument},
            {make_request(Command::policy, 1, 3), Status::argument},
            {make_request(Command::policy, 1, 2), Status::fixed},
            {make_request(Command::statistic, 1, 8), Status::argument},
            {make_request(Command::statistic, 1, 0, 1), Status::argument},
        };
        for (const auto& [request, status] : cases) {
            CAPTURE(static_cast<unsigned>(request.command), request.argument[0],
                    request.argument[1]);
            rig.simulation.complete_system();
            const Snapshot before(rig);
            const auto reply = execute(cpu, request);
            REQUIRE(reply.has_value());
            CHECK(reply->status == status);
            CHECK(reply->id == request.id);
            CHECK(reply->check == abi::control::check_of(*reply));
            if (status != Status::done) CHECK(Snapshot(rig) == before);
        }
    });
}

TEST_CASE("noise is no request: 100,000 random ones, 50,000 of them with the right check") {
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        Random random(3);
        for (unsigned n = 0; n < 100'000; ++n) {
            std::uint32_t words[4];
            for (std::uint32_t& w : words) w = static_cast<std::uint32_t>(random.below(1ull << 32));
            Request request;
            std::memcpy(&request, words, sizeof request);
            if (n % 2 == 0) request.check = abi::control::check_of(request);
            if (n % 5000 == 1) rig.simulation.complete_system();
            const Snapshot* before = n % 5000 == 1 ? new Snapshot(rig) : nullptr;
            const auto reply = execute(cpu, request);
            REQUIRE(reply.has_value());
            if (before != nullptr)
                CHECK((reply->status == Status::done || Snapshot(rig) == *before));
            delete before;
        }
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
        rig.simulation.complete_system();
        CHECK(!rig.machine->changes.held());
    });
}

TEST_CASE("stop and start keep the selection, and a change is recorded") {
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        CHECK(traps(rig, at::fifo));
        CHECK(ask(cpu, Command::stop).status == Status::done);
        CHECK(!traps(rig, at::fifo));
        CHECK(traps(rig, at::sysreg)); // can end the machine: always traps
        CHECK(ask(cpu, Command::deselect_range, at::wide, 0x3000).status == Status::done);
        CHECK(ask(cpu, Command::start).status == Status::done);
        CHECK(traps(rig, at::fifo));
        CHECK(!traps(rig, at::wide));
        const auto fifo = rig.machine->map.find({at::fifo})->region;
        CHECK(ask(cpu, Command::deselect, fifo).status == Status::done);
        CHECK(!traps(rig, at::fifo));
        CHECK(ask(cpu, Command::select, abi::control::all_regions).status == Status::done);
        CHECK(traps(rig, at::wide));
        const abi::Record* last = cpu.ring.recent(1);
        REQUIRE(last != nullptr);
        CHECK(last->type == abi::RecordType::configuration);
        CHECK(last->device == fifo);
        CHECK(last->pa_low == (static_cast<std::uint32_t>(Command::deselect) | 7u << 16));
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
    });
}

TEST_CASE("a page shared by two devices traps as long as one of them is traced") {
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        CHECK(ask(cpu, Command::deselect_range, at::gadget, 0x100).status == Status::done);
        CHECK(traps(rig, at::gadget));
        CHECK(ask(cpu, Command::deselect_range, at::neighbour, 0x100).status == Status::done);
        CHECK(!traps(rig, at::gadget));
        CHECK(rig.machine->normal(0).lookup(at::gadget) ==
              lpae::make_leaf(at::gadget, lpae::guest_device, lpae::last_level));
    });
}

TEST_CASE("damage next to changed entries is still noticed") {
    const auto entry_of = [](Rig& rig, std::uint64_t page) {
        return rig.machine->normal(0).entry(page);
    };
    as_guest(options, [&](Rig& rig, mmioscope::Cpu& cpu) {
        *entry_of(rig, at::fifo) ^= 1u << 20; // its own entry, another one, and the map
        CHECK(ask(cpu, Command::deselect_range, at::fifo, 0x1000).status == Status::done);
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name != nullptr);
        CHECK(ask(cpu, Command::select_range, at::fifo, 0x1000).status == Status::done);
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name != nullptr);
    });
    as_guest(options, [&](Rig& rig, mmioscope::Cpu& cpu) {
        *entry_of(rig, at::console) ^= 1u << 20;
        CHECK(ask(cpu, Command::deselect_range, at::fifo, 0x1000).status == Status::done);
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name != nullptr);
        *entry_of(rig, at::console) ^= 1u << 20;
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
    });
}

TEST_CASE("where a broadcast TLBI is not enough, nothing is selected while the guest runs") {
    CHECK(arch::broadcast_tlbi_fails(0x410f'c0f0, 0));
    CHECK(arch::broadcast_tlbi_fails(0x413f'c0f2, 0));
    CHECK(arch::broadcast_tlbi_fails(0x413f'c0f2, 1u << 4));
    CHECK(!arch::broadcast_tlbi_fails(0x413f'c0f2, 1u << 4 | 1u << 9));
    CHECK(!arch::broadcast_tlbi_fails(0x413f'c0f3, 0));
    CHECK(!arch::broadcast_tlbi_fails(0x414f'c0f0, 0));
    CHECK(!arch::broadcast_tlbi_fails(0x410f'c075, 0));
    RigOptions old = options;
    old.conditions.mistakes_thumb_stores = true; // r0p4
    as_guest(old, [](Rig&, mmioscope::Cpu& cpu) {
        CHECK(ask(cpu, Command::stop).status == Status::erratum);
        CHECK(ask(cpu, Command::marker, 1).status == Status::done);
    });
}

TEST_CASE("markers and statistics") {
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        CHECK(ask(cpu, Command::marker, 0x1234, 5).status == Status::done);
        CHECK(cpu.ring.recent(0)->type == abi::RecordType::marker);
        CHECK(cpu.ring.recent(0)->value == 0x5'0000'1234);
        cpu.ring.statistics().filtered = 0x1'0000'0002;
        const Reply reply = ask(cpu, Command::statistic, 7);
        CHECK(reply.value[0] == 2);
        CHECK(reply.value[1] == 1);
        CHECK(ask(cpu, Command::describe).value[0] == rig.machine->regions.size());
        CHECK(ask(cpu, Command::flush).status == Status::done);
    });
}

TEST_CASE("a snapshot holds the last records up to it, whatever comes later") {
    RigOptions roomy = options;
    roomy.tree.area_size = 1 << 20;
    as_guest(roomy, [](Rig& rig, mmioscope::Cpu& cpu) {
        const auto markers = [&cpu](std::uint32_t from, std::uint32_t to) {
            for (; from < to; ++from) CHECK(ask(cpu, Command::marker, from).status == Status::done);
        };
        const auto last_kept = [&rig](std::uint64_t head) {
            const abi::AreaHeader* kept = abi::previous_boot(*rig.machine->area);
            REQUIRE(kept != nullptr);
            CHECK(kept->magic == abi::area_magic);
            CHECK(kept->description_crc == description_crc(*kept, kept->region_count));
            CHECK(std::memcmp(kept->boot_id, rig.machine->area->boot_id, 16) == 0);
            const auto& ring = *reinterpret_cast<const abi::RingHeader*>(
                reinterpret_cast<const std::byte*>(kept) + kept->ring_offset[0]);
            REQUIRE(ring.head == head);
            const auto* records = reinterpret_cast<const abi::Record*>(&ring + 1);
            for (std::uint64_t at = head - std::min(head, abi::kept_records); at < head; ++at)
                REQUIRE(records[at % abi::kept_records].commit ==
                        abi::commit_word(ring.boot_number, at));
            return records[(head - 1) % abi::kept_records].value;
        };
        CHECK(abi::previous_boot(*rig.machine->area) == nullptr);
        for (const std::uint32_t end : {10u, 1500u, 3000u}) {
            markers(0, end);
            const std::uint64_t head = rig.ring(0).head;
            CHECK(ask(cpu, Command::snapshot).status == Status::done);
            markers(90'000, 90'010);
            CHECK(last_kept(head) == end - 1);
        }
        CHECK(rig.machine->area->description_crc ==
              description_crc(*rig.machine->area, rig.machine->area->region_count));
        CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
        rig.simulation.complete_system();
        CHECK(!rig.machine->changes.held());
    });
}

TEST_CASE("a snapshot is made by one CPU at a time, and not beside a change", "[protocol]") {
    RigOptions roomy = options;
    roomy.tree.area_size = 1 << 20;
    as_guest(roomy, [](Rig& rig, mmioscope::Cpu& cpu) {
        std::uint64_t spins = 0;
        REQUIRE(rig.machine->changes.try_acquire(1, 16, spins));
        CHECK(!execute(cpu, make_request(Command::snapshot, 1)).has_value());
        CHECK(!execute(cpu, make_request(Command::stop, 1)).has_value());
        rig.simulation.complete_system();
        CHECK(!rig.machine->locks.of(0).lock.held());
        CHECK(abi::previous_boot(*rig.machine->area) == nullptr);
        rig.machine->changes.release();
        for (int times = 0; times < 2; ++times)
            CHECK(ask(cpu, Command::snapshot).status == Status::done);
        CHECK(!rig.machine->changes.held());
    });
}

TEST_CASE("no snapshot is made if the area has no room for one") {
    RigOptions small = options;
    small.tree.area_size = static_cast<std::uint32_t>(smallest_area(1));
    as_guest(small, [](Rig& rig, mmioscope::Cpu& cpu) {
        const std::uint64_t head = rig.ring(0).head;
        CHECK(ask(cpu, Command::snapshot).status == Status::unavailable);
        CHECK(rig.machine->area->kept == abi::Kept::no_room);
        CHECK(rig.ring(0).head == head);
    });
}

TEST_CASE("after a flush, readers find everything published before it", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        as_guest(options_for(abi::EngineKind::shadow, 1, seed), [](Rig& rig, mmioscope::Cpu& cpu) {
            rig.simulation.complete_system();
            const std::uint64_t before = rig.ring(0).head;
            REQUIRE(execute(cpu, make_request(Command::marker, 1)).has_value());
            REQUIRE(execute(cpu, make_request(Command::flush, 2)).has_value());
            CHECK(rig.ring(0).head == before + 1);
        });
    }
}
