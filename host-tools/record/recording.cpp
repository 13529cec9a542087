#include "record/recording.hpp"

#include "file/texts.hpp"
#include "file/unfinished.hpp"
#include "records/record_text.hpp"
#include "records/report.hpp"
#include "wire/doubts.hpp"
#include "wire/no_end.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::record {

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
        const Stop stop{abi::Ending::stream_ended, ""};
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

std::string Recording::doubts(const Stop& stop) const {
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
abi::Ending Recording::ending(const Stop& stop) const {
    const std::optional<abi::StreamEnd> reason = ended();
    const bool failed = stop.ending == abi::Ending::failed; // there is no emulator
    return reason ? ending_of(*reason) : failed ? abi::Ending::stream_ended : stop.ending;
}

void Recording::end_file(const Stop& stop) {
    parts_.finish(ending(stop),
                  stream_text() + trace::incomplete_line(doubts(stop)) +
                      (boot_ ? trace::lost_others_line(boot_->losses().all_lost()) : ""));
}

Recording::Closing Recording::close_boot(const Stop& stop, const std::string& damage) {
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

void Recording::end_files(const Stop& stop) {
    if (stop.ending != abi::Ending::failed) { // otherwise it would fail again
        decoder_.finish();
    }
    end_file(stop);
}

std::string Recording::finish(const Stop& stop, const std::string& damage, bool& complete) {
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

} // namespace mmioscope::record
