#include "record/recording.hpp"

#include "file/unfinished.hpp"
#include "records/groups.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "system/replaced_file.hpp"
#include "view/short_tables.hpp"
#include "wire/stream_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mmioscope::record {

Boot::Boot(const wire::StreamHead& head, std::vector<std::byte> tree)
    : head_(head), tree_(std::move(tree)), names_(head_.regions, tree_),
      losses_(head.info.cpu_count) {}

void Boot::add(std::span<const abi::Record> records) {
    trace::add_runs(records, losses_, summary_);
    end_.reset(); // the guest went on
    unfinished_.clear();
}

void Boot::end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) {
    end_ = end;
    statistics_.assign(statistics.begin(), statistics.end());
    for (unsigned cpu = 0; cpu < std::min(end.cpu_count, head_.info.cpu_count); ++cpu) {
        losses_.finish_at(cpu, end.next_sequence[cpu]);
        if (cpu < others_.size()) {
            losses_.set_others(cpu, end.next_sequence[cpu], others_[cpu]);
        }
    }
    others_.clear();
}

std::string Boot::tables(bool own, std::size_t width) const {
    const trace::ReportContext context{&names_, summary_.start().value_or(0),
                                       head_.info.counter_frequency};
    return view::fitted_text(trace::device_table(summary_, context),
                             tree::short_names(names_, head_.regions, tree_), width) +
           trace::other_counts(summary_, statistics_, own);
}

abi::Ending ending_of(abi::StreamEnd reason) {
    switch (reason) {
    case abi::StreamEnd::machine_off: return abi::Ending::machine_off;
    case abi::StreamEnd::machine_reset: return abi::Ending::machine_reset;
    case abi::StreamEnd::panicked: return abi::Ending::panicked;
    case abi::StreamEnd::stopped: return abi::Ending::interrupted;
    case abi::StreamEnd::halted: return abi::Ending::halted;
    }
    return abi::Ending::machine_off; // an ending of a later version
}

Recording::Recording(Parts& parts, std::function<void(const std::string&)> report, bool own,
                     std::size_t width)
    : parts_(parts), report_(std::move(report)), own_(own), width_(width), decoder_(*this) {}

// A zero ends an incomplete frame, so that it does not spoil the first one that follows.
void Recording::broken_off() {
    constexpr std::byte zero{0};
    decoder_.feed(std::span(&zero, 1));
}

void Recording::console(std::span<const std::byte> text) {
    parts_.console(text);
    constexpr std::size_t longer_than_a_line = 1024;
    console_.append(reinterpret_cast<const char*>(text.data()), text.size());
    console_.erase(0, console_.size() - std::min(console_.size(), longer_than_a_line));
}

std::optional<abi::StreamEnd> Recording::ended() const {
    return boot_ && boot_->ended() ? std::optional(boot_->ended()->reason) : std::nullopt;
}

void Recording::hello(const wire::StreamHead& head) {
    if (boot_) {
        const RecordingEnd stop{abi::Ending::stream_ended, ""};
        end_file(stop);
        const Closing closing = close_boot(stop, parts_.take_damage());
        report_(closing.tables + closing.verdict + "\nthe next boot begins\n");
    }
    ++boots_;
    boot_ = std::make_unique<Boot>(head, parts_.tree(head));
    parts_.begin(*boot_);
}

void Recording::previous_boot(std::span<const std::byte> area) {
    parts_.keep_previous_boot(area);
}

void Recording::records(std::span<const abi::Record> records) {
    boot_->add(records);
    parts_.append(records);
}

void Recording::end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) {
    boot_->end(end, statistics);
}

void Recording::unfinished(std::span<const abi::UnfinishedAccess> accesses) {
    boot_->unfinished(accesses);
}

std::string Recording::doubts(const RecordingEnd& stop) const {
    if (stop.ending == abi::Ending::failed) {
        return stop.why;
    }
    if (!boot_) {
        return "the stream has no description of a boot, so there is no trace";
    }
    const bool cut = !stop.why.empty() && trace::is_cut(stop.ending);
    if (!boot_->ended() && (!cut || wire::says_halted(console_))) {
        return wire::no_end(console_);
    }
    const std::string unfinished = trace::why_unfinished(boot_->unfinished(), ending(stop));
    if (ended() == abi::StreamEnd::panicked) {
        return unfinished.empty() ? "the hypervisor stopped" : unfinished;
    }
    const std::string doubts = wire::doubts(decoder_);
    return doubts.empty() ? unfinished : doubts;
}

// The boot's file ends as the boot did, if that is known.
abi::Ending Recording::ending(const RecordingEnd& stop) const {
    const std::optional<abi::StreamEnd> reason = ended();
    const bool failed = stop.ending == abi::Ending::failed; // there is no emulator
    return reason ? ending_of(*reason) : failed ? abi::Ending::stream_ended : stop.ending;
}

void Recording::end_file(const RecordingEnd& stop) {
    parts_.finish(ending(stop),
                  stream_text() + trace::incomplete_line(doubts(stop)) +
                      (boot_ ? trace::lost_others_line(boot_->losses().all_lost()) : ""));
}

Recording::Closing Recording::close_boot(const RecordingEnd& stop, const std::string& damage) {
    const trace::Summary summary = boot_ ? boot_->summary() : trace::Summary();
    const std::vector<abi::Loss> losses =
        boot_ ? boot_->losses().losses() : std::vector<abi::Loss>();
    const std::string doubts = damage.empty() ? this->doubts(stop) : damage;
    const std::string why = doubts.empty() && boot_
                                ? std::string(trace::engine_caveat(boot_->head().info.engine))
                                : doubts;
    incomplete_boots_ += !why.empty() || !losses.empty() ? 1 : 0;
    const auto first = boot_ ? std::optional(boot_->head().info.policy) : std::nullopt;
    Closing closing{boot_ ? "\n" + boot_->tables(own_, width_) : "",
                    summary.policies().line(first) + "\n" +
                        trace::verdict(summary, losses, why, ending(stop), "",
                                       boot_ ? boot_->losses().all_lost().others : 0)};
    earlier_events_ += summary.events();
    boot_.reset();
    return closing;
}

// The text for the file.
std::string Recording::stream_text() const {
    return wire::text_of(decoder_.counts()) +
           (boot_ ? trace::lines_of(boot_->unfinished()) : std::string());
}

std::string Recording::stream_line() const {
    const wire::WireCounts& wire = decoder_.counts();
    return fmt::format("stream: {} bytes, {:.2f} per event; {} frames, {} damaged, {} missing{}\n",
                       wire.bytes, bytes_per_event(), wire.frames, wire.damaged, wire.missing,
                       wire.repeated > 0 ? fmt::format(", {} repeated", wire.repeated) : "");
}

double Recording::bytes_per_event() const {
    return events() == 0 ? 0 : static_cast<double>(bytes()) / static_cast<double>(events());
}

void Recording::end_files(const RecordingEnd& stop) {
    if (stop.ending != abi::Ending::failed) { // otherwise it would fail again
        decoder_.finish();
    }
    end_file(stop);
}

std::string Recording::finish(const RecordingEnd& stop, const std::string& damage, bool& complete) {
    const Closing closing = close_boot(stop, damage);
    complete = incomplete_boots_ == 0;
    const std::string cause = capture_.cause(decoder_.counts());
    std::string lines = closing.tables + stream_line() + (cause.empty() ? "" : cause + "\n") +
                        closing.verdict + "\n";
    if (boots_ > 1) {
        lines += fmt::format("{}: {} boots, {} of them incomplete\n",
                             complete ? "complete" : "incomplete", boots_, incomplete_boots_);
    }
    return lines;
}

namespace {

FileDescriptor create_file(const Options& options, unsigned number) {
    if (options.output.empty()) {
        return temporary_file();
    }
    const std::string path = part_path(options.output, number);
    check_distinct(path, options.inputs()); // FILE.2 may be one of them
    return create_output(path);
}

} // namespace

Parts::Parts(const Options& options, view::LivePrinter* printer, trace::About known)
    : options_(options), printer_(printer), known_(std::move(known)), packing_(!options.plain) {
    create(false);
}

Parts::~Parts() {
    file_->written.finish();
}

void Parts::create(bool continued) {
    FileDescriptor file = create_file(options_, ++number_);
    if (file_) {
        file_->written.finish();
    }
    file_ = std::make_shared<trace::FollowedFile>(std::move(file));
    writer_ = std::make_unique<trace::FileWriter>(
        file_->file.get(), file_->written,
        options_.output.empty() ? "the trace" : part_path(options_.output, number_));
    if (printer_ != nullptr) {
        printer_->follow(file_, continued);
    }
}

void Parts::begin(const Boot& boot) {
    if (used_) {
        create(false);
    }
    used_ = true;
    boot_ = &boot;
    written_losses_.clear();
    policies_ = {};
    write_head();
}

void Parts::write_head() {
    const wire::StreamHead& head = boot_->head();
    abi::Info info = head.info;
    info.policy = policies_.now(info.policy); // a later file begins with the current policy
    writer_->values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    writer_->section(abi::SectionType::device_tree, boot_->tree());
    writer_->values(abi::SectionType::regions, std::span<const abi::RegionEntry>(head.regions));
    known_.lines = trace::origin_lines(options_.command) +
                   fmt::format("source={}\npart={}\ntime-quantum-ticks={}\n", options_.source,
                               number_, 1u << head.time_shift);
    trace::write_about(*writer_, known_);
    console_.emplace(*writer_, info.counter_frequency);
    head_size_ = writer_->size();
}

// The number of records that fit into the file. With a large head (a device tree may have 16 MiB)
// the file gets larger than requested, because files without records would follow each other for
// ever.
std::size_t Parts::room() const {
    if (options_.rotate == 0) {
        return SIZE_MAX;
    }
    const std::uint64_t size = writer_->size();
    const std::uint64_t most = std::max(options_.rotate, head_size_ + min_rotate / 2);
    return size >= most ? 0 : static_cast<std::size_t>((most - size) / sizeof(abi::Record));
}

void Parts::append(std::span<const abi::Record> records) {
    while (!records.empty()) {
        std::size_t n = std::min(records.size(), room());
        while (n < records.size() &&
               trace::belong_together(n == 0 ? last_ : records[n - 1], records[n])) {
            ++n;
        }
        writer_->append(records.first(n));
        if (n > 0) {
            last_ = records[n - 1];
            console_->see(records[n - 1].time);
        }
        for (const abi::Record& record : records.first(n)) {
            policies_.add(record);
        }
        records = records.subspan(n);
        if (!records.empty()) {
            close(abi::Ending::continued, "");
            create(true);
            write_head();
        }
    }
}

void Parts::close(abi::Ending ending, const std::string& about) {
    std::vector<abi::Loss> losses;
    if (boot_ != nullptr) {
        losses = boot_->losses().losses_since(written_losses_);
        written_losses_ = boot_->losses().losses();
    }
    console_.reset();
    writer_->flush();
    writer_->values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
    if (boot_ != nullptr && boot_->ended()) {
        writer_->values(abi::SectionType::statistics, boot_->statistics());
    }
    writer_->text(about);
    writer_->finish(trace::sum_of(losses), ending);
    if (!options_.output.empty()) {
        packing_.add({part_path(options_.output, number_), file_, writer_->written()});
    }
    writer_.reset(); // the file ends here
}

void Parts::finish(abi::Ending ending, const std::string& about) {
    if (writer_) { // otherwise the next file could not be created
        close(ending, about);
    }
    file_->written.finish();
    boot_ = nullptr;
}

std::string Rate::text(double seconds, std::uint64_t events, std::uint64_t bytes) {
    const double span = std::max(seconds - seconds_, 1e-3);
    const double per_event =
        events == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(events);
    std::string line = fmt::format("{} events, {:.0f}/s; {:.0f} bytes/s, {:.2f} bytes per event",
                                   events, static_cast<double>(events - events_) / span,
                                   static_cast<double>(bytes - bytes_) / span, per_event);
    seconds_ = seconds;
    events_ = events;
    bytes_ = bytes;
    return line;
}

} // namespace mmioscope::record
