#include "file/trace_check.hpp"

#include "file/file_reader.hpp"
#include "file/index.hpp"
#include "file/packer.hpp"
#include "file/record_check.hpp"
#include "file/texts.hpp"
#include "records/losses.hpp"
#include "records/verdict.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

namespace {

/// Copies as much of `to` as `payload` has, possibly nothing.
template <typename T>
void copy_front(std::span<const std::byte> payload, T& to) {
    std::ranges::copy(payload.first(std::min(payload.size(), sizeof to)),
                      std::as_writable_bytes(std::span(&to, 1)).begin());
}

using Report = FileReader::Report;

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

class Check {
public:
    explicit Check(ByteSource& source);
    CheckResult run();

private:
    void problem(const std::string& text);
    void loss(const std::string& text);
    void section(const SectionPlace& place, const Section& section);
    void records(const SectionPlace& place, std::span<const abi::Record> records);
    void packed(const SectionPlace& place, std::span<const std::byte> payload);
    void add(std::span<const abi::Record> records);
    void info(std::span<const std::byte> payload);
    void text(std::span<const std::byte> payload);
    void losses(std::span<const std::byte> payload);
    void index(const SectionPlace& place, std::span<const std::byte> payload);
    /// The index at this place was read before, from the file's end, and is valid.
    bool has_read_index(const SectionPlace& place) const {
        return index_ && index_->end == place.offset;
    }
    void end(std::span<const std::byte> payload);
    void judge_end();

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

std::optional<FileIndex> index_of(ByteSource& source) {
    std::optional<FileIndex> index;
    if (source.size()) {
        index = read_index(source);
        source.seek(0);
    }
    return index;
}

Check::Check(ByteSource& source)
    : report_([this](const std::string& text) { problem(text); }), index_(index_of(source)),
      reader_(source, report_), records_(report_, [this](const std::string& text) { loss(text); }) {
    if (index_) {
        index_check_.emplace(*index_, report_);
    }
}

void Check::problem(const std::string& text) {
    if (result_.problems.size() < most_problems) {
        result_.problems.push_back(text);
    } else {
        ++result_.more_problems;
    }
}

void Check::loss(const std::string& text) {
    ++losses_;
    problem(text);
}

CheckResult Check::run() {
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
    result_.lost = lost_of(std::max({stated_, records_.holes(), end_ ? end_->lost : 0}), others_);
    return std::move(result_);
}

void Check::section(const SectionPlace& place, const Section& section) {
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

void Check::info(std::span<const std::byte> payload) {
    has_info_ = true;
    abi::Info info{};
    copy_front(payload, info);
    if (payload.size() < sizeof info || info.record_size != sizeof(abi::Record) ||
        info.region_size != sizeof(abi::RegionEntry)) {
        problem("section info has wrong sizes of entries");
    }
}

void Check::records(const SectionPlace& place, std::span<const abi::Record> records) {
    if (place.size % sizeof(abi::Record) != 0 || place.size > abi::max_records_payload) {
        problem(fmt::format("the records at byte {} have a wrong size, {} bytes", place.offset,
                            place.size));
    }
    add(records);
}

void Check::packed(const SectionPlace& place, std::span<const std::byte> payload) try {
    unpacker_.open(payload);
    add(unpacker_.decode(trace::ColumnSet::all()));
    const TimeSpan times = extent_of(block_).times;
    if (times.earliest != unpacker_.times().earliest || times.latest != unpacker_.times().latest) {
        problem(fmt::format("the packed records at byte {} have other times than their header says",
                            place.offset));
    }
} catch (const Error& error) {
    problem(fmt::format("the packed records at byte {}: {}", place.offset, error.what()));
}

void Check::add(std::span<const abi::Record> records) {
    if (!has_info_) {
        problem("there is no section info before the records");
        has_info_ = true;
    }
    block_ = records;
    records_.add(records);
}

void Check::text(std::span<const std::byte> payload) {
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

void Check::losses(std::span<const std::byte> payload) {
    for (; payload.size() >= sizeof(abi::Loss); payload = payload.subspan(sizeof(abi::Loss))) {
        abi::Loss loss{};
        std::memcpy(&loss, payload.data(), sizeof loss);
        stated_ = add_lost(stated_, loss.count);
    }
}

void Check::index(const SectionPlace& place, std::span<const std::byte> payload) {
    index_offset_ = place.offset;
    if (has_read_index(place)) {
        return;
    }
    const std::optional<FileIndex> index = parse_index(payload);
    if (!index || index->end != place.offset) {
        problem(fmt::format("the index at byte {} is not valid", place.offset));
    }
}

void Check::end(std::span<const std::byte> payload) {
    end_ = end_of(payload);
    if (payload.size() < abi::first_end_size) {
        problem("section end is too short");
    }
}

void Check::judge_end() {
    if (records_.holes() > stated_) {
        problem(
            fmt::format("{} records are missing, the file reports {}", records_.holes(), stated_));
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
        problem(fmt::format("the end counts {} lost records, the losses {}", end_->lost, stated_));
    }
    if (end_->index_offset != index_offset_) {
        problem(fmt::format("the end has the index at byte {}, it is at byte {}",
                            end_->index_offset, index_offset_));
    }
    if (const auto why = incomplete_ending(end_->ending); !why.empty() && !reported_incomplete_) {
        loss(fmt::format("the recording is incomplete: {}", why));
    }
    if (stated_ > 0) {
        loss(fmt::format("{} records were lost while recording", stated_));
    }
}

} // namespace

CheckResult check_trace(ByteSource& source) {
    return Check(source).run();
}

} // namespace mmioscope::trace
