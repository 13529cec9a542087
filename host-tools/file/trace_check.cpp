#include "file/trace_check.hpp"

#include "file/file_reader.hpp"
#include "file/index.hpp"
#include "file/packer.hpp"
#include "file/texts.hpp"
#include "records/verdict.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <span>

namespace mmioscope::trace {

namespace {

/// Copies as much of `to` as `payload` has, possibly nothing.
template <typename T>
void copy_front(std::span<const std::byte> payload, T& to) {
    std::ranges::copy(payload.first(std::min(payload.size(), sizeof to)),
                      std::as_writable_bytes(std::span(&to, 1)).begin());
}

using Report = FileReader::Report;

/// Checks that the records of a trace are in the order that the format promises
/// (abi/container.hpp).
class RecordCheck {
public:
    using Report = std::function<void(const std::string&)>;

    /// `wrong` is called for each misplaced record, `lost` for each missing run of records.
    RecordCheck(Report wrong, Report lost) : wrong_(std::move(wrong)), lost_(std::move(lost)) {}

    // Decides the usual case in a few instructions: a plain access is of no group, and not
    // estimated.
    void add(std::span<const abi::Record> records) {
        const auto is_plain = [](const abi::Record& record) {
            constexpr std::uint8_t special = abi::flag_estimated | abi::flag_payload;
            return record.type == abi::RecordType::access && (record.flags & special) == 0;
        };
        auto at = records.begin();
        while (at != records.end()) {
            if (!groups_.open()) {
                for (; at != records.end() && is_plain(*at); ++at) {
                    check<true>(*at, cpus_[at->cpu]);
                }
            }
            if (at != records.end()) {
                Cpu& cpu = cpus_[at->cpu];
                if (groups_.minds(*at)) {
                    check_group(*at, cpu);
                }
                check<false>(*at++, cpu);
            }
        }
    }

    /// Behind the last record: how many groups lack a part (abi/payload.hpp), and which is the
    /// first; empty: none.
    std::string broken_groups() const {
        const std::uint64_t all = broken_ + (part_ ? 0 : groups_.unended());
        return all == 0 ? ""
                        : fmt::format("{} payloads lack a part, the first at record {}", all,
                                      broken_ == 0 ? count_ : first_broken_);
    }

    /// The trace is a part of another one: missing records are not losses.
    void expect_part() { part_ = true; }

    std::uint64_t count() const { return count_; }
    /// The number of records missing between others of the same CPU.
    std::uint64_t holes() const { return holes_; }
    const StepsBack& times_back() const { return times_back_; }

private:
    struct Cpu {
        std::optional<std::uint32_t> next;     ///< expected cpu_sequence of the next record
        std::optional<std::uint32_t> furthest; ///< the highest `next` that records went back from
        std::uint64_t time = 0;                ///< the latest so far
        std::uint64_t other_time = 0;          ///< `time` when the last record was no access
    };

    template <bool plain>
    void check(const abi::Record& record, Cpu& cpu) {
        if (cpu.next == record.cpu_sequence && (plain || record.type != abi::RecordType::gap))
            [[likely]] {
            ++*cpu.next;
        } else {
            out_of_turn(record, cpu);
        }
        if (plain || (record.flags & abi::flag_estimated) == 0) {
            check_time(record, cpu);
        }
        if (record.device == abi::no_device || (!plain && record.type != abi::RecordType::access)) {
            cpu.other_time = cpu.time;
        } else {
            check_region(record);
        }
        ++count_;
    }

    // The records of one CPU are in order whatever their times are; each counts as having at least
    // the latest time before it. By these times the records of all CPUs must be in order. Estimated
    // times are ignored.
    void check_time(const abi::Record& record, Cpu& cpu) {
        if (record.time < time_) [[unlikely]] { // no Cpu::time is later
            if (keeps_time(record) && record.time < cpu.time && cpu.time != cpu.other_time) {
                times_back_.add(record.cpu, cpu.time, record.time);
            }
            cpu.time = std::max(cpu.time, record.time);
            if (cpu.time < time_) {
                wrong_(fmt::format("record {}: cpu {}: tick {} comes after tick {}", count_,
                                   record.cpu, record.time, time_));
            }
        } else {
            cpu.time = time_ = record.time;
        }
    }

    void check_region(const abi::Record& record) {
        std::optional<std::uint32_t>& last = locks_[record.device];
        if (last && static_cast<std::int32_t>(record.lock_sequence - *last) <= 0) [[unlikely]] {
            wrong_(fmt::format("record {}: region {} goes from access {} to {}", count_,
                               record.device, *last, record.lock_sequence));
        }
        last = record.lock_sequence;
    }

    // A part of a trace may have left out anything.
    void check_group(const abi::Record& record, const Cpu& cpu) {
        const Groups::Finding found = groups_.add(record, cpu.next);
        if (part_) {
            return;
        }
        if (!found.wrong.empty()) {
            wrong_(fmt::format("record {}: cpu {} sequence {} {}", count_, record.cpu,
                               record.cpu_sequence, found.wrong));
        }
        first_broken_ = broken_ == 0 ? count_ : first_broken_;
        broken_ += found.broken;
    }

    // If a file continues another one, a CPU's first number may be anything.
    void out_of_turn(const abi::Record& record, Cpu& cpu) {
        std::uint32_t next = cpu.next.value_or(record.cpu_sequence);
        if (goes_back(record.cpu_sequence, next)) {
            wrong_(fmt::format("record {}: cpu {} goes back to sequence {} from {}", count_,
                               record.cpu, record.cpu_sequence, next - 1));
            cpu.furthest = goes_back(cpu.furthest.value_or(next), next + 1) ? next : cpu.furthest;
            cpu.next = record.cpu_sequence + 1;
            return;
        }
        if (cpu.furthest && goes_back(next, *cpu.furthest)) { // what is in between was there before
            next =
                goes_back(record.cpu_sequence, *cpu.furthest) ? record.cpu_sequence : *cpu.furthest;
        }
        const Hole hole = hole_at(next, record);
        cpu.next = next;
        if (hole.in_front > 0 && !part_) {
            lost_(fmt::format("record {}: cpu {} lacks {} records from sequence {} on", count_,
                              record.cpu, hole.in_front, hole.first));
            holes_ = add_lost(holes_, hole.in_front);
        }
        if (hole.announced > 0) {
            lost_(fmt::format("record {}: cpu {} lost {} records from sequence {} on", count_,
                              record.cpu, hole.announced, record.cpu_sequence));
            holes_ = add_lost(holes_, hole.announced);
        }
    }

    bool part_ = false;
    Report wrong_;
    Report lost_;
    std::array<Cpu, 256> cpus_; ///< by Record::cpu
    /// The last lock_sequence, by Record::device, for any value that a file has.
    std::vector<std::optional<std::uint32_t>> locks_ =
        std::vector<std::optional<std::uint32_t>>(1u << 16);
    std::uint64_t time_ = 0;  ///< the latest Cpu::time
    std::uint64_t count_ = 0; ///< records before the current one
    std::uint64_t holes_ = 0;
    StepsBack times_back_;
    Groups groups_;
    std::uint64_t broken_ = 0;       ///< groups that lack a part
    std::uint64_t first_broken_ = 0; ///< the record that showed it first
};

/// Compares an index with the sections that are read.
class IndexCheck {
public:
    IndexCheck(const FileIndex& index, const Report& report) : index_(index), report_(report) {}

    void add(const SectionPlace& place, std::span<const abi::Record> records) {
        const auto& entries = index_.entries;
        const bool begins = next_ < entries.size() && place.offset >= entries[next_].offset;
        if (begins || place.offset >= index_.end) {
            close();
        }
        if (begins) {
            open_ = &entries[next_++];
            if (open_->offset != place.offset || open_->records_before != records_) {
                wrong();
            }
        }
        const Extent extent = extent_of(records);
        types_ |= abi::index_type_bit(place.type) | extent.index_bits();
        times_.earliest = std::min(times_.earliest, extent.times.earliest);
        times_.latest = std::max(times_.latest, extent.times.latest);
        records_ += extent.records;
    }

private:
    void close() {
        if (open_ != nullptr && (open_->earliest != times_.earliest ||
                                 open_->latest != times_.latest || !has_types())) {
            wrong();
        }
        open_ = nullptr;
        times_ = {};
        types_ = 0;
    }
    // The index may say that records teach or begin accesses although they do not.
    bool has_types() const {
        constexpr std::uint32_t may = abi::index_teaches | abi::index_begins;
        return (open_->types | may) == (types_ | may) && (types_ & ~open_->types) == 0;
    }
    void wrong() { report_(fmt::format("the index is wrong about byte {}", open_->offset)); }

    const FileIndex& index_;
    const Report& report_;
    std::size_t next_ = 0;
    const abi::IndexEntry* open_ = nullptr; ///< of the current stretch
    std::uint64_t records_ = 0;
    TimeSpan times_;
    std::uint32_t types_ = 0;
};

std::optional<FileIndex> index_of(ByteSource& source) {
    std::optional<FileIndex> index;
    if (source.size()) {
        index = read_index(source);
        source.seek(0);
    }
    return index;
}

class Check {
public:
    explicit Check(ByteSource& source)
        : report_([this](const std::string& text) { problem(text); }), index_(index_of(source)),
          reader_(source, report_),
          records_(report_, [this](const std::string& text) { loss(text); }) {
        if (index_) {
            index_check_.emplace(*index_, report_);
        }
    }

    CheckResult run() {
        SectionPlace place{};
        const auto note = [&place, this](const SectionPlace& at) {
            place = at;
            return at.type != abi::SectionType::index || !has_read_index(at);
        };
        while (const std::optional<Section> next = reader_.next(note)) {
            section(place, *next);
        }
        if (end_ && reader_.offset() > place.end) {
            problem(fmt::format("{} bytes follow the last section", reader_.offset() - place.end));
        }
        if (const std::string broken = records_.broken_groups(); !broken.empty()) {
            ++losses_;
            result_.problems.insert(result_.problems.begin(), broken); // however many follow
        }
        judge_end();
        result_.records = records_.count();
        result_.times = times_back(records_.times_back());
        result_.lossy = end_ && losses_ == result_.problems.size() + result_.more_problems;
        result_.lost =
            lost_of(std::max({stated_, records_.holes(), end_ ? end_->lost : 0}), others_);
        return std::move(result_);
    }

private:
    void problem(const std::string& text) {
        if (result_.problems.size() < most_problems) {
            result_.problems.push_back(text);
        } else {
            ++result_.more_problems;
        }
    }

    void loss(const std::string& text) {
        ++losses_;
        problem(text);
    }

    void section(const SectionPlace& place, const Section& section) {
        ++result_.sections;
        if (section.cut) {
            problem(fmt::format("the file ends within the section at byte {}", place.offset));
            if (section.type != abi::SectionType::records) {
                return;
            }
        }
        if (end_) {
            problem(fmt::format("a section follows the end, at byte {}", place.offset));
        }
        block_ = {};
        switch (section.type) {
        case abi::SectionType::info: info(section.payload); break;
        case abi::SectionType::records: records(place, section.records()); break;
        case abi::SectionType::text: text(section.payload); break;
        case abi::SectionType::losses: losses(section.payload); break;
        case abi::SectionType::index: index(place, section.payload); break;
        case abi::SectionType::end: end(section.payload); break;
        default:
            if (section.type == trace::packed_section) {
                packed(place, section.payload);
            }
            break;
        }
        if (index_check_) {
            index_check_->add(place, block_);
        }
    }

    void records(const SectionPlace& place, std::span<const abi::Record> records) {
        if (place.size % sizeof(abi::Record) != 0 || place.size > abi::max_records_payload) {
            problem(fmt::format("the records at byte {} have a wrong size, {} bytes", place.offset,
                                place.size));
        }
        add(records);
    }

    void packed(const SectionPlace& place, std::span<const std::byte> payload) try {
        unpacker_.open(payload);
        add(unpacker_.decode(trace::ColumnSet::all()));
        const TimeSpan times = extent_of(block_).times;
        if (times.earliest != unpacker_.times().earliest ||
            times.latest != unpacker_.times().latest) {
            problem(
                fmt::format("the packed records at byte {} have other times than their header says",
                            place.offset));
        }
    } catch (const Error& error) {
        problem(fmt::format("the packed records at byte {}: {}", place.offset, error.what()));
    }

    void add(std::span<const abi::Record> records) {
        if (!has_info_) {
            problem("there is no section info before the records");
            has_info_ = true;
        }
        block_ = records;
        records_.add(records);
    }

    void info(std::span<const std::byte> payload) {
        has_info_ = true;
        abi::Info info{};
        copy_front(payload, info);
        if (payload.size() < sizeof info || info.record_size != sizeof(abi::Record) ||
            info.region_size != sizeof(abi::RegionEntry)) {
            problem("section info has wrong sizes of entries");
        }
    }

    void text(std::span<const std::byte> payload) {
        const std::string_view lines(reinterpret_cast<const char*>(payload.data()), payload.size());
        const std::string key = std::string(exported_since_key) + "=";
        if (lines.starts_with(key) || lines.find("\n" + key) != lines.npos) {
            records_.expect_part();
        }
        if (const std::string why = value_in(lines, incomplete_key); !why.empty()) {
            reported_incomplete_ = true;
            loss("the recording is incomplete: " + why);
        }
        if (const std::string others = value_in(lines, lost_others_key); !others.empty()) {
            others_ = others;
        }
    }

    void losses(std::span<const std::byte> payload) {
        for (; payload.size() >= sizeof(abi::Loss); payload = payload.subspan(sizeof(abi::Loss))) {
            abi::Loss loss{};
            std::memcpy(&loss, payload.data(), sizeof loss);
            stated_ = add_lost(stated_, loss.count);
        }
    }

    void index(const SectionPlace& place, std::span<const std::byte> payload) {
        index_offset_ = place.offset;
        if (has_read_index(place)) {
            return;
        }
        const std::optional<FileIndex> index = parse_index(payload);
        if (!index || index->end != place.offset) {
            problem(fmt::format("the index at byte {} is not valid", place.offset));
        }
    }

    /// The index at this place was read before, from the file's end, and is valid.
    bool has_read_index(const SectionPlace& place) const {
        return index_ && index_->end == place.offset;
    }

    void end(std::span<const std::byte> payload) {
        end_ = end_of(payload);
        if (payload.size() < abi::first_end_size) {
            problem("section end is too short");
        }
    }

    void judge_end() {
        if (records_.holes() > stated_) {
            problem(fmt::format("{} records are missing, the file reports {}", records_.holes(),
                                stated_));
        }
        if (!end_) {
            result_.cut = true;
            problem("the file is cut: its end is missing");
            return;
        }
        if (end_->records != records_.count()) {
            problem(fmt::format("the end counts {} records, the file has {}", end_->records,
                                records_.count()));
        }
        if (end_->lost != stated_) {
            problem(
                fmt::format("the end counts {} lost records, the losses {}", end_->lost, stated_));
        }
        if (end_->index_offset != index_offset_) {
            problem(fmt::format("the end has the index at byte {}, it is at byte {}",
                                end_->index_offset, index_offset_));
        }
        if (const auto why = incomplete_ending(end_->ending);
            !why.empty() && !reported_incomplete_) {
            loss(fmt::format("the recording is incomplete: {}", why));
        }
        if (stated_ > 0) {
            loss(fmt::format("{} records were lost while recording", stated_));
        }
    }

    // Initialised first: reader_ may report damage of the file's head here.
    CheckResult result_;
    std::uint64_t losses_ = 0; ///< problems that are losses
    Report report_;
    std::optional<FileIndex> index_; ///< if the source can seek
    FileReader reader_;
    RecordCheck records_;
    std::optional<IndexCheck> index_check_;
    trace::Unpacker unpacker_;
    std::span<const abi::Record> block_; ///< of the last section
    std::optional<abi::End> end_;
    std::uint64_t index_offset_ = 0;
    std::uint64_t stated_ = 0; ///< lost records according to sections
    std::string others_;       ///< value of lost-others
    bool has_info_ = false;
    bool reported_incomplete_ = false;
};

} // namespace

CheckResult check_trace(ByteSource& source) {
    return Check(source).run();
}

} // namespace mmioscope::trace
