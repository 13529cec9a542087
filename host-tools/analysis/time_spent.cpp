#include "analysis/time_spent.hpp"

#include "abi/record.hpp"
#include "records/ticks.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

namespace {

/// A row of the table.
struct Spent {
    std::string name;
    std::uint64_t traps = 0;
    std::uint64_t in_device = 0; ///< ticks
    std::uint64_t in_traps = 0;  ///< ticks
    bool known = true;           ///< in_traps is
};

} // namespace

void TimeSpent::add(const Event& event) {
    const abi::Record& record = event.record;
    Cpu& cpu = cpus_[record.cpu];
    if (record.type == abi::RecordType::gap) {
        cpu.end.reset();
    }
    if (record.type != abi::RecordType::access) {
        return;
    }
    Device& device = devices_[record.device];
    if (device.name.empty()) {
        device.name = event.device();
        first_ = first_ == 0 ? record.time : first_;
    }
    device.ticks += record.duration;
    // The accesses of one instruction share a trap, and an estimated time says nothing.
    if ((record.flags & abi::flag_same_instruction) == 0) {
        ++device.accesses[record.cpu];
        ++cpu.traps;
        const bool loops = record.pc - cpu.pc + loop <= 2 * loop; // modulo 2^32
        if (cpu.end && record.time >= *cpu.end && loops &&
            (record.flags & abi::flag_estimated) == 0) {
            cpu.between.add(static_cast<std::uint32_t>(
                std::min<std::uint64_t>(record.time - *cpu.end, UINT32_MAX)));
        }
    }
    cpu.end = record.time + record.duration;
    cpu.pc = record.pc;
    last_ = std::max(last_, *cpu.end);
}

std::optional<std::uint64_t> TimeSpent::rest_of(const Cpu& cpu) const {
    const std::uint64_t rest = cpu.between.at(percent);
    const bool possible = cpu.between.size() > 0 && rest * cpu.traps <= last_ - first_;
    return possible ? std::optional(rest) : std::nullopt;
}

table::Table TimeSpent::table(std::uint32_t frequency) const {
    using enum table::Look;
    table::Table table{{{"device", "device", device},
                        {"traps", "traps", number, 9},
                        {"device_ns", "device s", seconds, 10},
                        {"trap_ns", "trap s", seconds, 10},
                        {"", "device %", number, 8, 2},
                        {"", "trap %", number, 8, 2}},
                       {}};
    unsigned cpus = 0;
    for (const Cpu& cpu : cpus_) {
        cpus += cpu.traps > 0 ? 1 : 0;
    }
    const double all = static_cast<double>(std::max<std::uint64_t>(last_ - first_, 1)) * cpus;
    const auto row_of = [&](const Spent& one) -> table::Row {
        const auto time = [&](std::uint64_t ticks) {
            return table::Cell(trace::nanoseconds(ticks, frequency));
        };
        const auto share = [&](std::uint64_t ticks) {
            return table::Cell(static_cast<double>(ticks) / all * 100);
        };
        return {one.name,
                one.traps,
                time(one.in_device),
                one.known ? time(one.in_traps) : table::Cell(),
                share(one.in_device),
                one.known ? share(one.in_traps) : table::Cell()};
    };
    std::vector<Spent> rows;
    Spent sum{"all"};
    for (const auto& [number, device] : devices_) {
        Spent one{device.name};
        one.in_device = device.ticks;
        for (std::size_t i = 0; i < cpus_.size(); ++i) {
            one.traps += device.accesses[i];
            if (device.accesses[i] > 0) {
                const std::optional<std::uint64_t> rest = rest_of(cpus_[i]);
                one.in_traps += device.accesses[i] * rest.value_or(0);
                one.known = one.known && rest;
            }
        }
        sum.traps += one.traps;
        sum.in_device += one.in_device;
        sum.in_traps += one.in_traps;
        sum.known = sum.known && one.known;
        rows.push_back(std::move(one));
    }
    std::ranges::stable_sort(rows, std::greater<>(),
                             [](const Spent& one) { return one.in_device + one.in_traps; });
    if (rows.size() > 1) {
        rows.push_back(sum);
    }
    for (const Spent& one : rows) {
        table.rows.push_back(row_of(one));
    }
    return table;
}

} // namespace mmioscope::analysis
