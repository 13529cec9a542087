#include "judge.hpp"

#include "guest_cpu.hpp"
#include "stage2.hpp"

#include <array>
#include <set>
#include <sstream>
#include <unordered_map>

namespace mmioscope::sim {

namespace {

/// Replays writes of descriptors. Consecutive states differ in one entry, so after each write only
/// what this entry leads to is checked.
class Replay {
public:
    Replay(const std::vector<Range>& normal, const std::vector<Range>& shadow)
        : forbidden_{normal, shadow} {}

    void add_root(std::uint64_t table, bool shadow) { places_[table].insert({shadow, 1, 0}); }

    /// An empty text, or what became visible against the rules.
    std::string write(std::uint64_t entry, std::uint64_t value) {
        const std::uint64_t table = entry & ~std::uint64_t{0xfff};
        const auto index = static_cast<unsigned>((entry & 0xfff) / 8);
        contents_[table][index] = value;
        for (const Place& place : std::set(places_[table]))
            if (auto wrong = check(place, index, value); !wrong.empty()) return wrong;
        return "";
    }

private:
    struct Place {
        bool shadow;
        unsigned level;
        std::uint64_t base; ///< first address translated

        auto operator<=>(const Place&) const = default;
    };

    std::string check(Place at, unsigned index, std::uint64_t value) {
        const unsigned shift = 39 - 9 * at.level;
        const Range mapped{at.base + (std::uint64_t{index} << shift),
                           at.base + (std::uint64_t{index + 1} << shift)};
        if ((value & 1) == 0) return "";
        if (at.level < 3 && (value & 2) != 0) {
            const std::uint64_t table = value & address_bits;
            const Place below{at.shadow, at.level + 1, mapped.begin};
            places_[table].insert(below);
            for (unsigned i = 0; i < 512; ++i)
                if (auto wrong = check(below, i, contents_[table][i]); !wrong.empty()) return wrong;
            return "";
        }
        // A page for a step: Normal memory, read-only.
        constexpr std::uint64_t for_step = 1 << 10 | 3 << 8 | 1 << 6 | 0xf << 2 | 3;
        if (at.shadow && at.level == 3 && (value & ~address_bits) == for_step) return "";
        if ((value & address_bits) != mapped.begin) return "an address is not mapped to itself";
        for (const Range& range : forbidden_[at.shadow ? 1 : 0]) {
            if (!range.overlaps(mapped)) continue;
            std::ostringstream out;
            out << (at.shadow ? "a shadow" : "the normal") << " table maps 0x" << std::hex
                << range.begin;
            return out.str();
        }
        return "";
    }

    std::vector<Range> forbidden_[2];
    std::unordered_map<std::uint64_t, std::array<std::uint64_t, 512>> contents_;
    std::unordered_map<std::uint64_t, std::set<Place>> places_; ///< views share tables
};

} // namespace

std::string check_table_history(const Rig& rig, const std::vector<Range>& trapped,
                                const std::vector<Range>& never) {
    std::vector<Range> normal = trapped;
    normal.insert(normal.end(), never.begin(), never.end());
    Replay replay(normal, never);
    Machine& machine = *rig.machine;
    for (unsigned i = 0; i < machine.cpu_count; ++i) {
        replay.add_root(machine.normal(i).root().value, false);
        replay.add_root(shadow_root(machine, i), true);
    }
    for (const TableWrite& w : rig.simulation.table_writes)
        if (auto wrong = replay.write(w.entry, w.value); !wrong.empty()) return wrong;
    for (const ViewChange& v : rig.simulation.view_changes) {
        const std::uint64_t root = v.vttbr & address_bits;
        if (root != machine.normal(v.cpu).root().value && root != shadow_root(machine, v.cpu))
            return "VTTBR of CPU " + std::to_string(v.cpu) +
                   " was neither normal nor its own shadow";
    }
    return "";
}

std::vector<Range> never_mapped() {
    return {{0x8200'0000, 0x8310'0000},
            {at::own_uart, at::own_uart + 0x1000},
            {at::unnamed, at::unnamed + 0x1000},
            {0, at::sram},
            {0x8400'0000, 0x1'0000'0000}};
}

std::vector<Range> all_device_pages() {
    return {{at::sysreg, at::sysreg + 0x1000}, {at::console, at::console + 0x1000},
            {at::fifo, at::fifo + 0x1000},     {at::gadget, at::gadget + 0x1000},
            {at::wide, at::wide + 0x3000},     {at::broken, at::broken + 0x1000},
            {at::hidden, at::hidden + 0x1000}, {at::gic, at::gic + 0x2000}};
}

} // namespace mmioscope::sim
