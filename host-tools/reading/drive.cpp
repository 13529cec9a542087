#include "reading/drive.hpp"

#include "file/part_files.hpp"
#include "reading/tally.hpp"
#include "records/losses.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace mmioscope::reading {

namespace {

/// Check clocks, signals and consumers only once in this many events: a check costs more than an
/// event.
constexpr std::uint64_t events_between_looks = 4096;

class Drive {
public:
    Drive(Trace& trace, std::vector<Consumer*> consumers, const DriveOptions& options)
        : trace_(trace), consumers_(std::move(consumers)), options_(options),
          progress_(options.progress != nullptr),
          // A gap in the numbers means nothing if not all events are read.
          find_losses_(options.losses == Losses::all && !selects(trace.options()) &&
                       !trace.reader().part()) {
        std::erase(consumers_, nullptr);
        trace_.on_forget([this] { all(&Consumer::forget); });
    }
    ~Drive() {
        trace_.on_forget(nullptr);
        progress_.clear();
    }
    Drive(const Drive&) = delete;
    Drive& operator=(const Drive&) = delete;

    Driven run() {
        driven_.ended = read();
        if (driven_.ended == Ended::enough) {
            return driven_;
        }
        if (driven_.ended == Ended::trace && options_.strict == Strict::whole) {
            check_end();
        }
        finish();
        return driven_;
    }

private:
    Ended read() {
        std::uint64_t next_look = events_between_looks;
        while (driven_.events < options_.limit) {
            const std::span<const Event> events =
                trace_.next_events(options_.limit - driven_.events);
            if (events.empty()) {
                return Ended::trace;
            }
            add(events);
            driven_.events += events.size();
            if (driven_.events >= next_look) {
                next_look += events_between_looks;
                if (const std::optional<Ended> ended = look()) {
                    return *ended;
                }
            }
        }
        return Ended::limit;
    }

    void add(std::span<const Event> events) {
        if (options_.strict != Strict::no && trace_.reader().damaged()) {
            stop_strictly(events.front());
        }
        std::size_t first = 0; // of those not passed yet
        for (std::size_t i = 0; (i += plain(events.subspan(i))) < events.size(); ++i) {
            const Event& event = events[i];
            const bool gap = event.record.type == abi::RecordType::gap;
            if (options_.strict != Strict::no && gap && event.record.value > 0) {
                pass(events.subspan(first, i - first));
                stop_strictly(event);
            }
            if (options_.losses == Losses::all) {
                const std::optional<abi::Loss> loss =
                    find_losses_ ? losses_.add(event) : std::nullopt;
                if (loss || gap) { // a gap record is shown only as its loss
                    pass(events.subspan(first, i - first));
                    first = gap ? i + 1 : i;
                }
                if (loss) {
                    pass_loss(*loss, event.nanoseconds);
                }
            }
        }
        last_ns_ = events.back().nanoseconds;
        last_time_ = events.back().record.time;
        pass(events.subspan(first));
    }

    // How many of the first events show no loss.
    std::size_t plain(std::span<const Event> events) {
        if (find_losses_) {
            return losses_.follow(events);
        }
        const bool looks = options_.strict != Strict::no || options_.losses == Losses::all;
        const auto is_gap = [](const Event& event) {
            return event.record.type == abi::RecordType::gap;
        };
        return looks ? static_cast<std::size_t>(std::find_if(events.begin(), events.end(), is_gap) -
                                                events.begin())
                     : events.size();
    }

    void pass(std::span<const Event> events) {
        if (options_.narrow) {
            events = options_.narrow(events);
        }
        if (events.empty()) {
            return;
        }
        for (Consumer* const consumer : consumers_) {
            consumer->add_all(events);
        }
    }

    void all(void (Consumer::*function)()) {
        for (Consumer* const consumer : consumers_) {
            (consumer->*function)();
        }
    }

    [[noreturn]] void stop_strictly(const Event& event) const {
        if (trace_.reader().damaged()) {
            throw failure("the trace is damaged: stopped (--strict)");
        }
        throw failure("{} records of cpu {} were lost: stopped (--strict)", event.record.value,
                      event.record.cpu);
    }

    // No later event would report damage or losses after the last one.
    void check_end() const {
        const trace::TraceReader& reader = trace_.reader();
        if (!reader.sound()) {
            throw failure("the trace is {}: stopped (--strict)",
                          reader.end() ? "damaged" : "cut off");
        }
        if (!reader.missing_part().empty()) {
            throw failure("{}: stopped (--strict)", trace::missing_part_text(reader));
        }
    }

    void pass_loss(const abi::Loss& loss, std::uint64_t nanoseconds) {
        Event event;
        event.record.type = abi::RecordType::gap;
        event.record.cpu = static_cast<std::uint8_t>(loss.cpu);
        event.record.time = loss.time;
        event.record.cpu_sequence = loss.first_sequence;
        event.record.device = abi::no_device;
        event.record.value = loss.count;
        event.nanoseconds = nanoseconds;
        driven_.lost = trace::add_lost(driven_.lost, loss.count);
        pass(std::span(&event, 1));
    }

    std::optional<Ended> look() {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
        progress_.show(time.count(), [this] {
            return fmt::format("{} events {}", driven_.events, options_.progress);
        });
        const auto has_enough = [](const Consumer* consumer) { return consumer->enough(); };
        if (std::any_of(consumers_.begin(), consumers_.end(), has_enough)) {
            return Ended::enough;
        }
        return options_.stop && options_.stop() ? std::optional(Ended::stopped) : std::nullopt;
    }

    void finish() {
        // Losses before the first record and after the last get the time of the last one, since
        // nothing earlier reports them.
        if (options_.losses == Losses::all && driven_.ended == Ended::trace &&
            trace_.reader().sound()) {
            for (abi::Loss loss : losses_.rest(trace_.reader().losses())) {
                loss.time = std::max(loss.time, last_time_);
                pass_loss(loss, last_ns_);
            }
        }
        for (const Event& marker : trace_.unended()) {
            for (Consumer* const consumer : consumers_) {
                consumer->add_unended(marker);
            }
        }
        progress_.clear();
        all(&Consumer::finish);
    }

    Trace& trace_;
    std::vector<Consumer*> consumers_;
    const DriveOptions& options_;
    ProgressLine progress_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool find_losses_;
    LossFinder losses_;
    std::uint64_t last_ns_ = 0;
    std::uint64_t last_time_ = 0;
    Driven driven_;
};

} // namespace

Driven drive(Trace& trace, std::vector<Consumer*> consumers, const DriveOptions& options) {
    return Drive(trace, std::move(consumers), options).run();
}

} // namespace mmioscope::reading
