#include "reading/trace.hpp"
#include "lib/ticks.hpp"

#include "lib/error.hpp"
#include "lib/open_source.hpp"
#include "lib/open_trace.hpp"
#include "lib/part_files.hpp"
#include "reading/strip_code.hpp"
#include "symbols/symbol_files.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::reading {

namespace {

// Since `start`, as events tell it, of the first tick that is told as `nanoseconds` of the counter
// or more.
std::uint64_t since(std::uint64_t nanoseconds, std::uint64_t start, std::uint32_t frequency) {
    const std::uint64_t before = nanoseconds == 0 ? 0 : trace::ticks(nanoseconds - 1, frequency);
    const std::uint64_t first = nanoseconds == 0 ? 0 : before + (before < UINT64_MAX ? 1 : 0);
    return first < start ? 0 : trace::nanoseconds(first - start, frequency);
}

std::unique_ptr<trace::ByteSource> source_of(const TraceOptions& options) {
    return options.wait ? trace::open_growing_source(options.path, options.wait)
                        : trace::open_source(options.path);
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
        throw bad_input("there is no CPU {}: the trace has {}, from 0 on", *strange, count);
    }
}

Trace::Trace(const TraceOptions& options)
    : options_(options), filter_(make_filter(options)),
      report_(options.report ? options.report : trace::tell_of(options.path)),
      own_(source_of(options)), source_(*own_) {
    begin();
}

Trace::Trace(const TraceOptions& options, trace::ByteSource& source)
    : options_(options), filter_(make_filter(options)),
      report_(options.report ? options.report : trace::tell_of(options.path)), source_(source) {
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
    if (reader_->info()) { // else nobody knows how many there are
        check_cpus(options_.cpus, reader_->info()->cpu_count);
    }
    naming_ =
        std::make_unique<Naming>(*reader_, registers::Sources{options_.registers, options_.tree});
    if (options_.no_pc) {
        naming_->hide_code();
    }
    if (options_.start) {
        naming_->start_at(*options_.start);
    } else if (reader_->start()) {
        naming_->start_at(*reader_->start());
    }
    symbols::add_files(naming_->symbols(), naming_->module_files(), options_.symbols);
    naming_->add_own_symbols(report_); // last, so that a file wins
    for (const unsigned cpu : options_.cpus) {
        cpus_.set(cpu % cpus_.size());
    }
    if (filter_) {
        for (const std::string& line : filter_->bind(*reader_)) {
            report_(line);
        }
    }
    select();
    all_ = options_.cpus.empty() && !options_.from && !options_.to;
    if (filter_ && reader_->start()) {
        filter_->start_at(options_.start.value_or(*reader_->start()));
    }
}

// Times are since the first record, whether that is wanted or not. One that has an earlier time is
// told to be at 0.
void Trace::select() {
    if ((!options_.from && !options_.to) || !reader_->start()) {
        return;
    }
    const std::uint64_t start = options_.start.value_or(*reader_->start());
    const std::uint32_t frequency = reader_->info() ? reader_->info()->counter_frequency : 0;
    const auto time = [&](std::uint64_t nanoseconds) {
        return start + std::min(trace::ticks(nanoseconds, frequency), UINT64_MAX - start);
    };
    for (std::optional<Moment>* moment : {&options_.from, &options_.to}) {
        if (*moment && (*moment)->of_counter) {
            *moment = since((*moment)->nanoseconds, start, frequency);
        }
    }
    naming_->start_at(start);
    const std::uint64_t from = options_.from ? options_.from->nanoseconds : 0;
    reader_->select({from == 0 ? 0 : time(from - 1),
                     options_.to ? time(options_.to->nanoseconds) : UINT64_MAX});
    times_.earliest = from == 0 ? 0 : time(from - 1) + 1;
    if (options_.to) {
        const std::uint64_t to = options_.to->nanoseconds;
        times_ = to == 0 ? trace::TimeSpan{1, 0} : trace::TimeSpan{times_.earliest, time(to - 1)};
    }
}

// The next records, few enough for Naming.
bool Trace::next_block() {
    if (section_.empty()) {
        section_ = reader_->next();
    }
    if (naming_->full()) {
        if (forget_) {
            forget_();
        }
        naming_->forget();
        if (filter_) {
            filter_->forget();
        }
    }
    block_ = section_.first(std::min(section_.size(), Naming::most_in_block));
    section_ = section_.subspan(block_.size());
    return !block_.empty();
}

// What a record tells without any names: in range, of a CPU that is wanted, and no piece of a
// module's marker, which may begin in front of the range.
bool Trace::in_range(const abi::Record& record) {
    const bool marker = record.type == abi::RecordType::marker;
    if (!marker && all_) {
        return true;
    }
    if (marker && options_.no_pc && module_marks_.has(record)) {
        return false;
    }
    return record.time >= times_.earliest && record.time <= times_.latest &&
           (marker || options_.cpus.empty() || cpus_[record.cpu]);
}

// Where nobody is to know code, a filter asks for no address of it, either.
bool Trace::may_hold(const abi::Record& record) const {
    if (!options_.no_pc) {
        return filter_->may_hold(record);
    }
    abi::Record copy = record;
    strip_code(copy);
    return filter_->may_hold(copy);
}

const Event* Trace::next() {
    for (;;) {
        if (block_.empty() && !next_block()) {
            end();
            return nullptr;
        }
        const abi::Record& record = block_.front();
        block_ = block_.subspan(1);
        ++number_;
        if (!in_range(record)) {
            naming_->pass(record);
        } else if (filter_ && !may_hold(record)) {
            naming_->pass(record);
            ++left_out_;
        } else {
            naming_->make(event_, record, number_);
            if (!filter_ || (*filter_)(event_)) {
                return &event_;
            }
            ++left_out_;
        }
    }
}

// Of a part it is no wonder.
void Trace::end() {
    const bool first = !std::exchange(ended_, true);
    if (!first || reader_->partial()) {
        return;
    }
    for (const std::string& module : naming_->unplaced_modules()) {
        report_("it does not say where module " + module + " was loaded: say FILE@ADDRESS");
    }
}

} // namespace mmioscope::reading
