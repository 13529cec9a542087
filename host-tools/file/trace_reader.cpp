#include "file/trace_reader.hpp"

#include "records/losses.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope::trace {

namespace {

/// Copies all whole T of `payload` to `to`, after its first `keep`.
template <typename T>
void copy_array(std::span<const std::byte> payload, std::vector<T>& to, std::size_t keep = 0) {
    const std::size_t n = payload.size() / sizeof(T);
    to.resize(keep + n);
    if (n > 0) {
        std::memcpy(to.data() + keep, payload.data(), n * sizeof(T));
    }
}

/// The T at the start of a payload; a newer writer may have added fields after it.
template <typename T>
std::optional<T> copy_one(std::span<const std::byte> payload) {
    if (payload.size() < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
}

bool has_records(abi::SectionType type) {
    return type == abi::SectionType::records || type == trace::packed_section;
}

/// Such a section applies to all records, wherever it stands.
bool covers_all(abi::SectionType type) {
    return type == abi::SectionType::text || type == symbols_section || type == console_section;
}

} // namespace

TraceReader::TraceReader(ByteSource& source, const Report& report, Others others)
    : report_(report), first_(source), source_(&source), others_(std::move(others)) {
    file_.emplace(*source_, report_of(""));
    first_section_ = file_->offset();
    read_head();
}

void TraceReader::go_on_with(NextParts next) {
    first_next_ = next;
    at_.next_part = std::move(next);
    read_head();
}

void TraceReader::read_head() {
    while (!fresh_ && ((!end_ && read_section()) || go_on())) {
    }
    start_ = exported_since(text_);
    if (fresh_ && !start_) {
        start_ = records_.front().time;
    }
}

// `path`: of the current file, unless it is the first one, whose name `report_` knows.
TraceReader::Report TraceReader::report_of(const std::string& path) {
    return [this, path](const std::string& text) {
        damaged_ = true;
        if (read_before()) {
            return;
        }
        report_(path.empty() ? text : path + ": " + text);
    };
}

void TraceReader::select(const Wanted& wanted) {
    partial_ = true;
    wanted_ = wanted;
    find_route();
}

void TraceReader::find_route() {
    route_.reset();
    if (!wanted_) {
        return;
    }
    if (!source_->size()) {
        may_begin_ = true;
        return;
    }
    if (!index_) {
        const std::uint64_t offset = file_->offset();
        index_ = read_index(*source_).value_or(FileIndex()); // without an index reads everything
        file_->seek(offset);
        const auto begins = [](const abi::IndexEntry& entry) {
            return (entry.types & abi::index_begins) != 0;
        };
        may_begin_ =
            may_begin_ || index_->entries.empty() || std::ranges::any_of(index_->entries, begins);
    }
    route_.emplace(*index_, *wanted_, at_.file_begins);
}

void TraceReader::open_part() {
    source_ = at_.part ? at_.part.get() : &first_;
    file_.emplace(*source_, report_of(at_.path));
    route_.reset();
    index_.reset();
}

TraceReader::Place TraceReader::beginning() const {
    Place place;
    place.offset = first_section_;
    place.next_part = first_next_;
    place.learnt.regions = at_.learnt.regions; // the head has them, before all records
    place.learnt.tree = at_.learnt.tree;
    return place;
}

std::optional<TraceReader::Place> TraceReader::place() const {
    if (fresh_ || file_->has_callers() || end_ || file_->over() || !source_->size()) {
        return std::nullopt;
    }
    Place place = at_;
    place.offset = file_->offset();
    return place;
}

void TraceReader::go_to(const Place& place) {
    const bool other = place.part != at_.part;
    at_ = place;
    if (other) {
        if (ByteSource& source = at_.part ? *at_.part : first_; source.size()) {
            source.seek(0);
        }
        open_part();
    }
    file_->seek(at_.offset);
    end_.reset();
    missing_part_.clear();
    names_stale_ = true;
    ++device_changes_;
    ++changes_;
    callers_ = {};
    left_out_latest_ = 0;
    fresh_ = false;
}

// Whether this place was read before: facts about the whole trace are known then.
bool TraceReader::read_before() const {
    return at_.parts < furthest_part_ ||
           (at_.parts == furthest_part_ && file_->offset() <= furthest_);
}

// Continues with the next file. False if the trace ends here, or is cut and no file follows.
bool TraceReader::go_on() {
    if (!at_.next_part || (end_ && end_->ending != abi::Ending::continued)) {
        return false;
    }
    NextPart part = at_.next_part(*this);
    if (!part.source) {
        missing_part_ = end_ ? part.problem : "";
        at_.next_part = {};
        return false;
    }
    if (end_) {
        at_.before = *end_;
        at_.in_front = end_->records;
    } else {
        report_of("")("the file before " + part.path + " has no readable end");
        at_.before.records = at_.in_front;
    }
    end_.reset();
    at_.losses_before = losses_.size();
    at_.part = std::move(part.source);
    at_.path = part.path;
    ++at_.parts;
    open_part();
    at_.in_head = true;
    at_.file_begins = at_.in_front;
    find_route();
    return true;
}

std::span<const abi::Record> TraceReader::next() {
    while (!fresh_ && ((!end_ && read_section()) || go_on())) {
    }
    if (!fresh_) {
        return {};
    }
    fresh_ = false;
    count_ += records_.size();
    return records_;
}

// Made only when needed: a file may describe its devices any number of times.
const tree::DeviceNames& TraceReader::names() const {
    if (names_stale_) {
        names_ = tree::DeviceNames(*at_.learnt.regions, *at_.learnt.tree);
        names_stale_ = false;
    }
    return names_;
}

bool TraceReader::sound() const {
    return !damaged_ && end_ && (partial_ || end_->records == count_);
}

void TraceReader::withhold(const std::string& key) {
    text_.erase(key);
    withheld_.insert(key);
}

Lost TraceReader::lost() const {
    const auto others = text_.find(lost_others_key);
    return lost_of(sum_of(losses()),
                   others == text_.end() ? std::string_view() : std::string_view(others->second));
}

std::optional<abi::EngineKind> TraceReader::engine() const {
    return info_ && knows("engine") ? std::optional(info_->engine) : std::nullopt;
}

std::optional<abi::Policy> TraceReader::policy() const {
    return info_ && knows("policy") ? std::optional(info_->policy) : std::nullopt;
}

std::optional<abi::Ending> TraceReader::ending() const {
    return end_ && knows("ending") ? std::optional(end_->ending) : std::nullopt;
}

std::span<const std::uint8_t> TraceReader::boot_id() const {
    return info_ && knows("boot id") ? std::span<const std::uint8_t>(info_->boot_id)
                                     : std::span<const std::uint8_t>();
}

std::optional<Section> TraceReader::next_section() {
    if (!route_) {
        return file_->next();
    }
    const std::uint64_t next = route_->next(file_->offset());
    if (next != file_->offset()) {
        file_->seek(next);
        at_.learnt.tasks.pass_records();
    }
    at_.in_front = route_->records_before(next).value_or(at_.in_front);
    return file_->next([this](const SectionPlace& place) {
        return !has_records(place.type) || route_->has_records(place.offset);
    });
}

// Whether this is the head of a later file. It repeats the first file's head, except for the
// policy, whose changes are in records.
bool TraceReader::repeats_head(abi::SectionType type) {
    const bool of_head = type == abi::SectionType::info || type == abi::SectionType::device_tree ||
                         type == abi::SectionType::regions || type == abi::SectionType::text ||
                         type == symbols_section || type == frames_section;
    at_.in_head = at_.in_head && of_head;
    return at_.parts > 1 && at_.in_head;
}

bool TraceReader::read_section() {
    const std::optional<Section> section = next_section();
    at_.in_front += file_->take_unread();
    if (!section || (section->cut && section->type != abi::SectionType::records)) {
        return false;
    }
    const bool again = read_before();
    if (!repeats_head(section->type) && !(again && covers_all(section->type))) {
        if (others_ && !again && !has_records(section->type)) {
            others_(*section);
        }
        read(*section);
    }
    if (!again) {
        ++sections_[section->type];
        furthest_part_ = at_.parts;
        furthest_ = file_->offset();
    }
    return true;
}

void TraceReader::read(const Section& section) {
    ++changes_;
    const std::span<const std::byte> payload = section.payload;
    switch (section.type) {
    case abi::SectionType::info: info_ = copy_one<abi::Info>(payload); break;
    case abi::SectionType::device_tree:
    case abi::SectionType::regions:
        at_.learnt.add(section.type, payload);
        names_stale_ = true;
        ++device_changes_;
        break;
    case abi::SectionType::records: read_records(section); break;
    case abi::SectionType::losses:
        copy_array(payload, losses_, at_.losses_before);
        std::erase_if(losses_, [](const abi::Loss& loss) { return loss.count == 0; });
        break;
    case abi::SectionType::statistics: copy_array(payload, statistics_); break;
    case abi::SectionType::text: read_text(payload); break;
    case abi::SectionType::previous_boot: break; // `blackbox` reads it
    case abi::SectionType::index: break;         // file_index.hpp reads it
    case abi::SectionType::end: read_end(payload); break;
    default: read_of_guest(section.type, payload); break;
    }
    if (has_records(section.type)) {
        at_.learnt.tasks.pass_records();
    }
}

void TraceReader::read_of_guest(abi::SectionType type, std::span<const std::byte> payload) {
    if (at_.learnt.add(type, payload)) {
        return;
    }
    if (type == console_section) {
        console_.add(payload);
    } else if (type == trace::packed_section) {
        read_packed(payload);
    } else if (type == symbols_section || type == frames_section) {
        (type == symbols_section ? symbols_ : frames_) =
            std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    }
}

void TraceReader::read_records(const Section& section) {
    records_ = section.records();
    callers_ = section.callers;
    fresh_ = !records_.empty();
    at_.in_front += records_.size();
    learn(records_);
}

// A section without wanted records was not read: its payload is empty.
void TraceReader::read_packed(std::span<const std::byte> payload) {
    if (payload.empty()) {
        return;
    }
    callers_ = {}; // those of the previous block
    try {
        unpacker_.open(payload);
        if (skim_.may_be_wanted && leaves_out()) {
            return;
        }
        unpacker_.decode(trace::ColumnSet::all());
    } catch (const Error& error) {
        file_->report(fmt::format("packed records before byte {}: {}: skipped", file_->offset(),
                                  error.what()));
        const auto block = trace::block_header(payload);
        at_.in_front += block ? block->count : 0;
        return;
    }
    records_ = unpacker_.records();
    fresh_ = true;
    at_.in_front += records_.size();
    learn(records_);
    callers_ = unpacker_.callers();
}

bool TraceReader::leaves_out() {
    const auto records = unpacker_.decode(skim_.columns);
    if (std::ranges::any_of(records, trace::teaches, &abi::Record::type) ||
        skim_.may_be_wanted(records)) {
        return false;
    }
    at_.in_front += records.size();
    count_ += records.size();
    left_out_latest_ = std::max(left_out_latest_, unpacker_.times().latest);
    return true;
}

void TraceReader::learn(std::span<const abi::Record> records) {
    const Extent extent = extent_of(records);
    latest_ = std::max(extent.times.latest, std::exchange(left_out_latest_, 0));
    teaches_ = extent.teaches;
    groups_ = extent.groups;
    for (const abi::Record& record : teaches_ ? records : std::span<const abi::Record>()) {
        if (trace::teaches(record.type)) {
            at_.learnt.add(record);
        }
    }
}

void TraceReader::read_end(std::span<const std::byte> payload) {
    if (payload.size() >= abi::first_end_size) {
        end_ = end_of(payload);
        end_->records += at_.before.records;
        end_->lost = add_lost(end_->lost, at_.before.lost);
    }
    if (const std::uint64_t end = file_->offset(); file_->has_more()) {
        file_->report(fmt::format("bytes after the end, from byte {} on, are not read", end));
    }
}

void TraceReader::read_text(std::span<const std::byte> payload) {
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t equals = line.find('=');
        text_bytes_ += line.size();
        if (equals != std::string_view::npos && text_bytes_ <= max_payload &&
            text_.size() < most_text_lines) {
            text_[std::string(line.substr(0, equals))] = line.substr(equals + 1);
        }
    }
    std::erase_if(text_, [this](const auto& entry) { return withheld_.contains(entry.first); });
    if (const auto list = text_.find("not-known"); list != text_.end()) {
        not_known_ = NotKnown(list->second);
    }
}

TraceReader::Report report_of(const std::string& path) {
    return [path](const std::string& text) {
        print_message("mmioscope: {}\n", for_terminal(path + ": " + text));
    };
}

std::unique_ptr<TraceReader> read_trace(ByteSource& source, const std::string& path,
                                        const TraceReader::Report& report,
                                        const TraceReader::Others& others) {
    try {
        return std::make_unique<TraceReader>(source, report, others);
    } catch (const Error& error) {
        throw Error(error.status(), path + ": " + error.what());
    }
}

} // namespace mmioscope::trace
