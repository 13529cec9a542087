#include "judge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace mmioscope::sim {

namespace {

using abi::Record;

struct Match {
    const Record* record;
    std::size_t bus_index;
};

std::string text_of(const BusAccess& a) {
    std::ostringstream out;
    out << "bus: CPU " << a.cpu << (a.write ? " W" : " R") << (1 << a.log2_size) << std::hex
        << " 0x" << a.address << " = 0x" << a.value << std::dec << " at " << a.time;
    return out.str();
}

std::string text_of(const Record& r) {
    std::ostringstream out;
    out << "record: CPU " << unsigned{r.cpu} << (abi::is_write(r) ? " W" : " R")
        << abi::access_size(r) << std::hex << " 0x" << abi::physical_address(r) << " = 0x"
        << r.value << std::dec << " at " << r.time << "+" << r.duration << ", lock sequence "
        << r.lock_sequence;
    return out.str();
}

bool is_on_bus(const Record& r) {
    return r.type == abi::RecordType::access || r.type == abi::RecordType::own;
}

bool may_be_on_bus(const Record& r) {
    return r.type == abi::RecordType::fault &&
           abi::fault_reason(r.value) == abi::FaultReason::access_unknown;
}

bool equal(const Record& r, const BusAccess& a) {
    const bool known = (r.flags & abi::flag_value_unknown) == 0;
    return abi::physical_address(r) == a.address && abi::is_write(r) == a.write && r.cpu == a.cpu &&
           abi::access_size(r) == 1u << a.log2_size && (!known || r.value == a.value);
}

/// Whether the access happened between the record's time and its end.
bool in_time(const Record& r, const BusAccess& a) {
    if ((r.flags & abi::flag_boot) != 0) return true;
    const bool early = (r.flags & abi::flag_early) != 0;
    return a.time >= r.time && (early || a.time <= r.time + r.duration);
}

/// Both in the order of one CPU: record by record, access by access.
std::string match_cpu(const Rig& rig, unsigned cpu, const std::vector<Range>& unrecorded,
                      std::vector<Match>& matches) {
    const auto& log = rig.simulation.bus.log();
    const auto hidden = [&](std::uint64_t address) {
        return std::any_of(unrecorded.begin(), unrecorded.end(),
                           [&](const Range& r) { return r.contains(address); });
    };
    std::size_t next = 0;
    const auto skip = [&] {
        while (next < log.size() && (log[next].cpu != cpu || hidden(log[next].address))) ++next;
        return next < log.size();
    };
    for (const Record& r : rig.records(cpu)) {
        if (may_be_on_bus(r)) {
            while (skip() && in_time(r, log[next])) ++next;
            continue;
        }
        if (!is_on_bus(r)) continue;
        if (!skip()) return "no such access: " + text_of(r);
        if (!equal(r, log[next])) return text_of(log[next]) + "\n" + text_of(r);
        if (!in_time(r, log[next])) return "out of time: " + text_of(log[next]) + "\n" + text_of(r);
        matches.push_back({&r, next++});
        // One record with an unknown value stands for all accesses of its instruction.
        while ((r.flags & abi::flag_value_unknown) != 0 && skip() && in_time(r, log[next])) ++next;
    }
    return skip() ? "no record of: " + text_of(log[next]) : "";
}

/// Sequence numbers of a region whose access did not happen because its step ended in a fault.
std::set<std::uint32_t> given_up(const Rig& rig, std::uint16_t region) {
    std::set<std::uint32_t> found;
    for (const Record& r : rig.records_of(abi::RecordType::fault))
        if (r.device == region) found.insert(r.lock_sequence);
    return found;
}

/// Over all CPUs: the order by lock_sequence and by time must be the order on the bus.
std::string check_region_order(std::vector<Match> matches,
                               const std::set<std::uint32_t>& given_up) {
    std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
        return a.record->lock_sequence < b.record->lock_sequence;
    });
    for (std::size_t i = 1; i < matches.size(); ++i) {
        const Record& before = *matches[i - 1].record;
        const Record& r = *matches[i].record;
        std::uint32_t next = before.lock_sequence + 1;
        while (given_up.contains(next)) ++next;
        if (r.lock_sequence != next)
            return "gap in lock_sequence: " + text_of(before) + "\n" + text_of(r);
        if (matches[i].bus_index < matches[i - 1].bus_index || r.time < before.time)
            return "order: " + text_of(before) + "\n" + text_of(r);
    }
    return "";
}

} // namespace

std::string compare_with_bus(const Rig& rig, const std::vector<Range>& unrecorded) {
    std::map<std::uint16_t, std::vector<Match>> by_region;
    for (unsigned cpu = 0; cpu < rig.simulation.cores.size(); ++cpu) {
        std::vector<Match> matches;
        if (const auto wrong = match_cpu(rig, cpu, unrecorded, matches); !wrong.empty())
            return wrong;
        for (const Match& m : matches)
            if (m.record->type == abi::RecordType::access) by_region[m.record->device].push_back(m);
    }
    for (const auto& [region, matches] : by_region)
        if (const auto wrong = check_region_order(matches, given_up(rig, region)); !wrong.empty())
            return wrong;
    return "";
}

} // namespace mmioscope::sim
