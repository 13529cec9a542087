#include "wire/stream_recorder.hpp"

#include "file/unfinished.hpp"
#include "records/verdict.hpp"

#include <fmt/format.h>

namespace mmioscope::wire {

StreamRecorder::StreamRecorder(trace::FileWriter& file, trace::About about)
    : file_(file), about_(std::move(about)), decoder_(*this) {}

void StreamRecorder::hello(const StreamHead& head) {
    if (++boots_ > 1) {
        return;
    }
    head_ = head;
    losses_.emplace(head.info.cpu_count);
    file_.values(abi::SectionType::info, std::span(&head.info, 1));
    file_.section(abi::SectionType::device_tree,
                  about_.tree.empty() ? alias_tree(head) : about_.tree);
    file_.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(head.regions));
    about_.lines += fmt::format("time-quantum-ticks={}\n", 1u << head.time_shift);
    trace::write_about(file_, about_);
}

void StreamRecorder::previous_boot(std::span<const std::byte> area) {
    if (boots_ == 1) {
        file_.section(abi::SectionType::previous_boot, area);
    }
}

void StreamRecorder::records(std::span<const abi::Record> records) {
    if (boots_ > 1) {
        return;
    }
    trace::add_runs(records, *losses_, summary_);
    end_.reset(); // the guest went on
    unfinished_.clear();
    file_.append(records);
}

void StreamRecorder::end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) {
    if (boots_ > 1) {
        return;
    }
    end_ = end;
    statistics_.assign(statistics.begin(), statistics.end());
    for (unsigned cpu = 0; cpu < std::min(end.cpu_count, head_->info.cpu_count); ++cpu) {
        losses_->finish_at(cpu, end.next_sequence[cpu]);
        if (cpu < others_.size()) {
            losses_->set_others(cpu, end.next_sequence[cpu], others_[cpu]);
        }
    }
    others_.clear();
}

void StreamRecorder::unfinished(std::span<const abi::UnfinishedAccess> accesses) {
    if (boots_ == 1) {
        unfinished_.assign(accesses.begin(), accesses.end());
    }
}

void StreamRecorder::finish(abi::Ending ending) {
    ending_ = ending;
    cut_ = trace::is_cut(ending);
    decoder_.finish();
    file_.flush();
    file_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_->losses()));
    file_.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics_));
    file_.text(text_of(decoder_.counts()) + trace::lines_of(unfinished_) +
               trace::incomplete_line(doubts("")) + trace::lost_others_line(losses_->all_lost()));
    file_.finish(losses_->lost(), ending);
}

std::string StreamRecorder::doubts(std::string_view console) const {
    if (!end_ && (!cut_ || says_halted(console))) {
        return no_end(console);
    }
    const std::string doubts = wire::doubts(decoder_);
    return doubts.empty() ? trace::why_unfinished(unfinished_, ending_) : doubts;
}

std::string doubts(const WireDecoder& decoder) {
    if (decoder.goes_on()) {
        return "something unreadable follows the stream's end, so it was none; what followed is "
               "not known";
    }
    if (decoder.senseless() > 0) {
        return fmt::format("{} frames of the stream are not valid", decoder.senseless());
    }
    if (decoder.forgotten() > 0) {
        return fmt::format(
            "{} records came without their boot's description, or too long before it",
            decoder.forgotten());
    }
    return "";
}

std::string text_of(const WireCounts& counts) {
    return fmt::format("stream-bytes={}\nstream-frames={}\nstream-damaged={}\nstream-missing={}\n"
                       "stream-repeated={}\n",
                       counts.bytes, counts.frames, counts.damaged, counts.missing,
                       counts.repeated);
}

bool says_halted(std::string_view console) {
    const std::size_t end = console.find_last_not_of("\r\n");
    console = console.substr(0, end == std::string_view::npos ? 0 : end + 1);
    const std::string_view line = console.substr(console.find_last_of('\n') + 1);
    return line.ends_with("reboot: System halted") || line.ends_with("reboot: Power down");
}

std::string no_end(std::string_view console) {
    return fmt::format("the stream has no end{}; what followed its last frame is not known",
                       says_halted(console) ? ": the guest has halted, and on one CPU nothing "
                                              "tells the hypervisor of that"
                                            : "");
}

} // namespace mmioscope::wire
