#include "reading/trace.hpp"
#include "file/part_files.hpp"
#include "file/trace_reader.hpp"
#include "reading/strip_code.hpp"
#include "records/groups.hpp"
#include "records/ticks.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mmioscope::reading {

namespace {

// Converts `nanoseconds` of the counter to nanoseconds since `start`, as events count them: those
// of the first tick that is at least so late.
std::uint64_t since(std::uint64_t nanoseconds, std::uint64_t start, std::uint32_t frequency) {
    const std::uint64_t before = nanoseconds == 0 ? 0 : trace::ticks(nanoseconds - 1, frequency);
    const std::uint64_t first = nanoseconds == 0 ? 0 : before + (before < UINT64_MAX ? 1 : 0);
    return first < start ? 0 : trace::nanoseconds(first - start, frequency);
}

std::unique_ptr<ByteSource> source_of(const TraceOptions& options) {
    return options.wait ? open_growing_source(options.path, options.wait)
                        : open_source(options.path);
}

std::unique_ptr<filter::Filter> make_filter(const TraceOptions& options) {
    if (options.filter.empty()) {
        return nullptr;
    }
    filter::Settings settings = options.settings;
    settings.code = !options.no_pc;
    return std::make_unique<filter::Filter>(options.filter, settings);
}

} // namespace

void check(const TraceOptions& options) {
    make_filter(options);
    registers::TraceDevices({options.registers, options.tree});
}

void check_cpus(std::span<const unsigned> cpus, unsigned count) {
    const auto strange =
        std::find_if(cpus.begin(), cpus.end(), [count](unsigned cpu) { return cpu >= count; });
    if (strange != cpus.end()) {
        throw bad_input("there is no CPU {}: the trace has {} CPUs, numbered from 0", *strange,
                        count);
    }
}

Trace::Trace(const TraceOptions& options)
    : options_(with_times_of_marks(options)), filter_(make_filter(options)),
      report_(options.report ? options.report : trace::report_of(options.path)),
      own_(source_of(options)), source_(*own_) {
    begin();
}

Trace::Trace(const TraceOptions& options, ByteSource& source)
    : options_(options), filter_(make_filter(options)),
      report_(options.report ? options.report : trace::report_of(options.path)), source_(source) {
    if ((options.from && !options.from->mark.empty()) ||
        (options.to && !options.to->mark.empty())) {
        throw bad_input("a range by marks is not known while the trace is recorded");
    }
    begin();
}

void Trace::begin() {
    reader_ = trace::read_trace(source_, options_.path, report_, options_.sections);
    if (own_ && !options_.one_file) {
        trace::read_all_parts(*reader_, options_.path, options_.wait);
    }
    for (const char* const text : texts_with_code) {
        if (options_.no_pc) {
            reader_->withhold(text);
        }
    }
    if (reader_->info()) { // otherwise the number of CPUs is unknown
        check_cpus(options_.cpus, reader_->info()->cpu_count);
    }
    naming_ =
        std::make_unique<Naming>(*reader_, registers::Sources{options_.registers, options_.tree});
    for (const std::string& line : naming_->remarks()) {
        report_(line);
    }
    if (options_.no_pc) { // notes may say where code is, too
        naming_->hide_code();
    } else if (own_ && options_.path != "-") {
        naming_->note(trace::notes_of(options_.path));
    }
    if (options_.start) {
        naming_->start_at(*options_.start);
    } else if (reader_->start()) {
        naming_->start_at(*reader_->start());
    }
    symbols::add_files(naming_->symbols(), naming_->module_files(), options_.symbols);
    naming_->add_own_symbols(report_); // last: the user's files come first
    for (const unsigned cpu : options_.cpus) {
        cpus_.set(cpu % cpus_.size());
    }
    if (filter_) {
        for (const std::string& line : filter_->bind(*reader_)) {
            report_(line);
        }
        bound_ = reader_->device_changes();
    }
    checkpoints_.add({0, 0, reader_->beginning(), {}, markers(), {}});
    select();
    if (filter_ && !options_.no_pc) { // with no_pc the filter sees stripped records only
        reader_->skim({filter_->columns(), [this](auto records) { return may_hold_any(records); }});
    }
    all_ = options_.cpus.empty() && !options_.from && !options_.to && !options_.numbers &&
           !options_.no_pc;
    if (filter_ && reader_->start()) {
        filter_->start_at(options_.start.value_or(*reader_->start()));
    }
}

// Times count from the first record, even if it is not wanted. A record with an earlier time gets
// time 0.
void Trace::select() {
    if (!reader_->start() || !(options_.from || options_.to || options_.numbers)) {
        return;
    }
    const std::uint64_t start = options_.start.value_or(*reader_->start());
    const std::uint32_t frequency = reader_->info() ? reader_->info()->counter_frequency : 0;
    for (std::optional<Moment>* moment : {&options_.from, &options_.to}) {
        if (*moment && (*moment)->of_counter) {
            *moment = since((*moment)->nanoseconds, start, frequency);
        }
    }
    naming_->start_at(start);
    wanted_.numbers = options_.numbers.value_or(trace::NumberSpan{});
    if (options_.from) {
        wanted_.times.earliest = ticks_at(options_.from->nanoseconds);
    }
    if (options_.to) {
        const std::uint64_t end = ticks_at(options_.to->nanoseconds);
        if (end == 0) {
            report_("nothing was recorded up to that time");
        }
        wanted_.times =
            end == 0 ? trace::TimeSpan{1, 0} : trace::TimeSpan{wanted_.times.earliest, end - 1};
    }
    wanted_.with_all_before = naming_->minds_passing();
    to_give_ = wanted_;
    reader_->select(wanted_);
}

// The first tick of an event whose time is `nanoseconds` or more.
std::uint64_t Trace::ticks_at(std::uint64_t nanoseconds) const {
    if (nanoseconds == 0 || !reader_->start()) {
        return 0;
    }
    const std::uint64_t start = options_.start.value_or(*reader_->start());
    const std::uint32_t frequency = reader_->info() ? reader_->info()->counter_frequency : 0;
    const std::uint64_t before = trace::ticks(nanoseconds - 1, frequency);
    return before < UINT64_MAX - start ? start + before + 1 : UINT64_MAX;
}

// Takes the next records, at most as many as Naming accepts.
bool Trace::next_block() {
    if (section_.empty()) {
        remember();
        section_ = reader_->next();
        number_ = reader_->first_number() - 1;
        latest_ = std::max(latest_, reader_->latest());
        if (filter_ && bound_ != reader_->device_changes()) {
            bound_ = reader_->device_changes();
            filter_->bind(*reader_); // begin() has already warned of unknown devices
        }
    }
    if (naming_->full()) {
        forget();
        naming_->forget();
    }
    block_ = section_.first(std::min(section_.size(), Naming::most_in_block));
    section_ = section_.subspan(block_.size());
    if (block_.empty()) {
        tell_unknown();
    }
    return !block_.empty();
}

// Warns of names that the trace does not have. Tasks are known only when all has been read.
void Trace::tell_unknown() {
    if (!filter_ || std::exchange(told_unknown_, true)) {
        return;
    }
    const bool all = !options_.to && !options_.numbers && reader_->end();
    const auto each_name = [&](std::string_view kind, const symbols::VisitName& visit) {
        return (kind != "task" || all) && naming_->each_name(kind, visit);
    };
    std::ranges::for_each(filter_->unmet(each_name), report_);
}

void Trace::forget() {
    if (forget_) {
        forget_();
    }
    if (filter_) {
        filter_->forget();
    }
}

// Makes a checkpoint here if the last one is far enough away.
void Trace::remember() {
    if (!checkpoints_.wants(number_)) {
        return;
    }
    if (std::optional<trace::TraceReader::Place> place = reader_->place()) {
        const std::uint64_t in_front = place->in_front;
        checkpoints_.add(
            {in_front, latest_, std::move(*place), naming_->held(), markers(), module_marks_});
    }
}

void Trace::seek_number(std::uint64_t number) {
    trace::Wanted from;
    from.numbers.first = number;
    seek(from);
}

void Trace::seek_time(std::uint64_t nanoseconds) {
    trace::Wanted from;
    from.times.earliest = ticks_at(nanoseconds);
    seek(from);
}

// Reads on from here if everything wanted is still ahead. Otherwise goes back to the last
// checkpoint before it, because what the records before a place teach can only be learnt by reading
// them.
void Trace::seek(const trace::Wanted& from) {
    if (!source_.size()) {
        throw bad_input("{}: cannot seek: it is not a regular file, or it is compressed",
                        options_.path);
    }
    const bool by_time = from.times.earliest > 0;
    const bool on =
        by_time ? latest_ < from.times.earliest : reader_->records_read() < from.numbers.first;
    if (std::exchange(over_, false) || !on) { // it may have ended within a section
        go_back(from, by_time);
    }
    left_ = 0;
    to_come_ = {};
    to_give_ = wanted_;
    to_give_.times.earliest = std::max(wanted_.times.earliest, from.times.earliest);
    to_give_.numbers.first = std::max(wanted_.numbers.first, from.numbers.first);
    to_give_.with_all_before = naming_->minds_passing();
    all_ = false;
    reader_->select(to_give_);
}

void Trace::go_back(const trace::Wanted& to, bool by_time) {
    const Checkpoint& checkpoint = checkpoints_.in_front_of([&](const Checkpoint& one) {
        return by_time ? one.latest >= to.times.earliest : one.in_front >= to.numbers.first;
    });
    forget(); // as long as names are valid
    reader_->go_to(checkpoint.place);
    naming_->go_to(checkpoint.held);
    markers() = checkpoint.markers;
    module_marks_ = checkpoint.module_marks;
    latest_ = checkpoint.latest;
    number_ = checkpoint.in_front;
    section_ = block_ = group_ = {};
    passed_ = 0;
}

// A marker belongs to all CPUs.
bool Trace::in_range(const abi::Record& record, std::uint64_t number) const {
    return to_give_.times.has(record.time) && to_give_.numbers.has(number) &&
           (options_.cpus.empty() || cpus_[record.cpu] || record.type == abi::RecordType::marker);
}

// Takes the next records, one for each bit of a number, and sets the bits of those that the record
// alone does not rule out.
bool Trace::next_group() {
    pass_to(group_.size());
    number_ += group_.size();
    group_ = {};
    passed_ = 0;
    if (block_.empty() && !next_block()) {
        return false;
    }
    group_ = block_.first(std::min<std::size_t>(block_.size(), 64));
    block_ = block_.subspan(group_.size());
    pass_all_ = naming_->minds_passing() || reader_->teaches();
    left_ = UINT64_MAX >> (64 - group_.size());
    if (!all_) {
        choose();
    }
    if (reader_->groups()) {
        left_ &= ~pieces();
    }
    if (filter_) {
        left_ = may_hold(left_);
        // Not if passing a record may change names, and not if events have no code.
        if (!pass_all_ && !options_.no_pc && !filter_->needs_no_names()) {
            left_ = without_refused(left_);
        }
    }
    return true;
}

// With no_pc, a module's marker is hidden, too: it has code addresses.
void Trace::choose() {
    hidden_ = 0;
    for (std::size_t i = 0; i < group_.size(); ++i) {
        const abi::Record& record = group_[i];
        const bool hidden =
            options_.no_pc && record.type == abi::RecordType::marker && module_marks_.has(record);
        hidden_ |= std::uint64_t{hidden} << i;
        left_ &= ~(std::uint64_t{hidden || !in_range(record, number_ + i + 1)} << i);
    }
}

// The bits of the records in group_ that are parts of the event of the record before them.
std::uint64_t Trace::pieces() const {
    std::uint64_t bits = 0;
    const bool first = number_ + 1 == reader_->first_number();
    for (std::size_t i = first ? 1 : 0; i < group_.size(); ++i) {
        const abi::Record* const record = group_.data() + i;
        bits |= std::uint64_t{trace::belong_together(record[-1], record[0])} << i;
    }
    return bits;
}

// Where registers depend on others, all records are needed. The same if this section has changed
// devices, because names are learnt only when its records are passed.
bool Trace::may_hold_any(std::span<const abi::Record> records) {
    if (options_.stop && (stop_ = stop_ || options_.stop())) {
        return true; // so that the reader comes back with it
    }
    if (bound_ != reader_->device_changes() || naming_->minded_passing()) {
        return true;
    }
    while (!records.empty()) {
        const auto group = records.first(std::min<std::size_t>(64, records.size()));
        records = records.subspan(group.size());
        if (filter_->may_hold(group, UINT64_MAX >> (64 - group.size())) != 0) {
            return true;
        }
    }
    return false;
}

// With no_pc, the filter must not see code addresses, either.
std::uint64_t Trace::may_hold(std::uint64_t of) const {
    if (!options_.no_pc) {
        return filter_->may_hold(group_, of);
    }
    std::vector<abi::Record> stripped(group_.begin(), group_.end());
    std::ranges::for_each(stripped, strip_code);
    return filter_->may_hold(stripped, of);
}

// Without those whose code, place or context the filter has refused before: they need no event.
std::uint64_t Trace::without_refused(std::uint64_t of) const {
    const auto without = [&](auto number) {
        std::uint64_t left = of;
        for (std::uint64_t rest = of; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(rest));
            left &= ~(std::uint64_t{filter_->has_refused(number(i))} << i);
        }
        return left;
    };
    switch (filter_->by()) {
    case filter::Filter::By::place:
        return without([this](std::size_t i) { return naming_->place_of(group_[i]); });
    case filter::Filter::By::code:
        return without([this](std::size_t i) { return naming_->code_of(group_[i]); });
    case filter::Filter::By::context:
        return without(
            [this](std::size_t i) { return naming_->context_of(group_[i], number_ + i + 1); });
    case filter::Filter::By::event: break;
    }
    return of;
}

// The text of a marker comes in pieces. Takes pieces before the wanted records, too, but none after
// them, because these are not always read.
void Trace::pass_to(std::size_t end) {
    for (; pass_all_ && passed_ < end; ++passed_) {
        const abi::Record& record = group_[passed_];
        const std::uint64_t number = number_ + passed_ + 1;
        naming_->pass(record);
        if (record.type == abi::RecordType::marker && (hidden_ >> passed_ & 1) == 0 &&
            record.time <= to_give_.times.latest && number <= to_give_.numbers.last) {
            marker_ = markers().add(record, number);
        }
    }
}

// Makes one event: its names must be looked up before the next record is passed.
std::size_t Trace::fill_passed() {
    const auto at = static_cast<std::size_t>(std::countr_zero(left_));
    left_ &= left_ - 1;
    pass_to(at + 1);
    Event& event = events_.front();
    naming_->fill(event, group_[at], number_ + at + 1);
    if (event.record.type == abi::RecordType::marker) {
        event.ids.text = marker_ ? naming_->intern(marker_->text) : no_id;
    }
    return 1;
}

std::span<const Event> Trace::next_events(std::uint64_t most) {
    while (to_come_.empty()) {
        while (left_ == 0) {
            if (over_ || stops()) {
                return {};
            }
            if (!next_group()) {
                over_ = true;
                end();
                return {};
            }
        }
        // Makes all wanted events of the group at once, unless a record changes names.
        const std::size_t made =
            pass_all_ ? fill_passed()
                      : naming_->fill(events_, group_, std::exchange(left_, 0), number_ + 1);
        std::span<Event> events(events_.data(), made);
        if (filter_ && !filter_->needs_no_names()) {
            const auto kept =
                std::remove_if(events.begin(), events.end(),
                               [this](const Event& event) { return !(*filter_)(event); });
            events = events.first(static_cast<std::size_t>(kept - events.begin()));
        }
        to_come_ = events;
    }
    const std::span<const Event> events = to_come_.first(std::min(to_come_.size(), most));
    to_come_ = to_come_.subspan(events.size());
    return events;
}

// Asks once in a while, as long as nothing is found.
bool Trace::stops() {
    constexpr unsigned groups = 64;
    if (options_.stop && !stop_ && ++groups_ % groups == 0) {
        stop_ = options_.stop();
    }
    return std::exchange(stop_, false);
}

const Event* Trace::next() {
    const std::span<const Event> events = next_events(1);
    return events.empty() ? nullptr : &events.front();
}

std::vector<Event> Trace::unended() {
    std::vector<Event> events;
    for (const trace::Marker& marker : own_markers_.open()) {
        if (to_give_.times.has(marker.record.time) && to_give_.numbers.has(marker.number)) {
            Event& event = events.emplace_back(naming_->event(marker.record, marker.number));
            event.ids.text = naming_->intern(marker.text);
            if (filter_ && !(*filter_)(event)) {
                events.pop_back();
            }
        }
    }
    return events;
}

// Warns of modules without an address; in a part of a trace that is normal.
void Trace::end() {
    const bool first = !std::exchange(ended_, true);
    if (first && options_.from && latest_ < wanted_.times.earliest) {
        report_("nothing was recorded at or after the time of --from");
    }
    if (!first || reader_->partial()) {
        return;
    }
    for (const std::string& module : naming_->unplaced_modules()) {
        report_("the address of module " + module + " is not known: use FILE@ADDRESS");
    }
}

} // namespace mmioscope::reading
