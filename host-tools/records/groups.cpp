#include "records/groups.hpp"

#include <fmt/format.h>

namespace mmioscope::trace {

namespace {

/// The number of the owner of its group.
std::uint32_t group_of(const abi::Record& record) {
    return record.type == abi::RecordType::payload ? abi::owner_of(record) : record.cpu_sequence;
}

} // namespace

bool belong_together(const abi::Record& before, const abi::Record& record) {
    return abi::goes_on(before) && abi::follows(record, before) && abi::is_sound_piece(record);
}

std::size_t whole_groups(std::span<const abi::Record> records) {
    std::size_t whole = records.size();
    while (whole > 0 && abi::goes_on(records[whole - 1])) {
        if (records[--whole].type != abi::RecordType::payload) {
            break;
        }
    }
    return records.size() - whole > abi::max_pieces ? records.size() : whole;
}

Groups::Finding Groups::add(const abi::Record& record, std::optional<std::uint32_t> next) {
    Finding found;
    Cpu& cpu = cpus_[record.cpu];
    const bool is_piece = record.type == abi::RecordType::payload;
    const bool at_once = next == record.cpu_sequence && record.type != abi::RecordType::gap;
    const auto report = [&](std::uint32_t owner, std::string_view what) {
        found.broken += cpu.owner == owner ? 0 : 1;
        found.wrong = at_once ? what : found.wrong;
        cpu.owner = owner;
    };
    const bool goes_on = cpu.before && abi::follows(record, *cpu.before);
    if (cpu.before && !goes_on) {
        report(group_of(*cpu.before), "comes where the payload of the record before it goes on");
    }
    if (is_piece && !goes_on) {
        report(group_of(record), "is a payload of no record");
    }
    if (is_piece && !abi::is_sound_piece(record)) {
        found.wrong = "is a payload with an impossible size or place";
    }
    open_ += abi::goes_on(record) ? 1 : 0;
    open_ -= cpu.before ? 1 : 0;
    cpu.before = abi::goes_on(record) ? std::optional(record) : std::nullopt;
    return found;
}

std::string payload_text(const abi::Record& piece, bool hidden) {
    std::string text = fmt::format("of {} at {}:", abi::owner_of(piece),
                                   abi::piece_index(piece) * abi::piece_bytes);
    const std::span bytes(abi::bytes_of(piece), abi::bytes_in(piece));
    if (bytes.empty()) {
        return text + " missing";
    }
    if (hidden) {
        return text + fmt::format(" {} bytes", bytes.size());
    }
    return text + fmt::format(" {:02x}", fmt::join(bytes, ""));
}

std::optional<abi::Record> OpenAccesses::add(const abi::Record& record) {
    std::optional<abi::Record> unended;
    if (const auto found = begun_.find(record.cpu); found != begun_.end()) {
        const bool next = record.cpu_sequence == found->second.cpu_sequence + 1;
        const bool lost = record.type == abi::RecordType::gap;
        if (next && !lost && !abi::ends(found->second, record)) {
            unended = found->second;
        }
        begun_.erase(found);
    }
    if (record.type == abi::RecordType::begin) {
        begun_.emplace(record.cpu, record);
    }
    return unended;
}

std::vector<abi::Record> OpenAccesses::open() const {
    std::vector<abi::Record> all;
    for (const auto& [cpu, begin] : begun_) {
        all.push_back(begin);
    }
    return all;
}

void Extent::add(const Run& run) {
    records += run.count;
    times.add(run.first->time);
    times.add(run.last->time);
    teaches = teaches || trace::teaches(run.first->type);
    begins = begins || run.first->type == abi::RecordType::begin;
}

// Usually all are accesses, each later than the previous one. A bit that only other types have
// shows the exceptions.
void Extent::add(std::span<const abi::Record> more) {
    if (more.empty()) {
        return;
    }
    times.add(more.front().time);
    TimeSpan span = times;
    unsigned bits = 0;
#pragma GCC unroll 4 // all records of all traces pass here
    for (const abi::Record& record : more) {
        if (record.time >= span.latest) [[likely]] {
            span.latest = record.time;
        } else {
            span.add(record.time);
        }
        bits |= static_cast<unsigned>(record.type);
    }
    records += more.size();
    times = span;
    if (bits != static_cast<unsigned>(abi::RecordType::access)) {
        KindSet types([](const Kind&) { return false; });
        for (const abi::Record& record : more) {
            types.add(record.type);
        }
        teaches = teaches || types.has_any(teaching);
        begins = begins || types.has(abi::RecordType::begin);
        groups = groups || types.has(abi::RecordType::payload);
    }
}

Extent extent_of(std::span<const abi::Record> records) {
    Extent extent;
    extent.add(records);
    return extent;
}

} // namespace mmioscope::trace
