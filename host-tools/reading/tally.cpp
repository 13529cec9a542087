#include "reading/tally.hpp"

#include "file/part_files.hpp"
#include "file/texts.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"

namespace mmioscope::reading {

namespace {

std::string why_incomplete(const trace::TraceReader& reader) {
    if (!reader.end()) {
        return "the trace is cut off";
    }
    if (!reader.sound()) {
        return "the trace is damaged";
    }
    if (!reader.missing_part().empty()) {
        return trace::missing_part_text(reader);
    }
    if (const auto why = reader.text().find(trace::incomplete_key); why != reader.text().end()) {
        return why->second;
    }
    if (const auto ending = reader.ending(); ending && !trace::incomplete_ending(*ending).empty()) {
        return std::string(trace::incomplete_ending(*ending));
    }
    return reader.engine() ? std::string(trace::engine_caveat(*reader.engine())) : "";
}

} // namespace

[[gnu::always_inline]] inline void Tally::add(const trace::Run& run) {
    summary_.add(run);
    seen_.add(run);
    backward_.add(run);
}

void Tally::add_all(std::span<const Event> events) {
    while (!events.empty()) {
        const trace::Run run = trace::run_of<trace::RunsOf::time>(events);
        add(run);
        if (abi::goes_on(*run.last)) {
            for (const abi::Record& piece : events[run.count - 1].payload().pieces) {
                add({&piece, &piece, 1, 0});
            }
        }
        events = events.subspan(run.count);
    }
}

// Losses as the recorder wrote them; if that part is missing, as the records show them.
std::string Tally::verdict(const trace::TraceReader& reader) const {
    const bool recorded = reader.sound() || selects_ || reader.part();
    const std::string why = why_incomplete(reader);
    std::string line = trace::verdict(
        summary_, recorded ? reader.losses() : std::span(seen_.losses()),
        why.empty() ? backward_.numbers_back() : why, reader.ending(), backward_.times_back(),
        recorded ? reader.lost().others : seen_.all_lost().others);
    if (reader.part()) {
        line.insert(line.find(" events") + 7, " of a part");
    }
    if (selects_) {
        line.insert(line.find(" events") + 7, " selected");
    }
    if (reader.ending() == abi::Ending::continued && reader.missing_part().empty()) {
        line.insert(line.find(" events") + 7, " of one file");
    }
    return reader.knows("policy")
               ? fmt::format("{}\n{}\n", summary_.policies().line(reader.policy()), line)
               : line + "\n";
}

Status Tally::status(const trace::TraceReader& reader) const {
    return backward_.numbers_back().empty() ? status_of(reader) : Status::failed;
}

Status Tally::status_so_far(const trace::TraceReader& reader) const {
    const bool all = !selects_ && !reader.part();
    const bool seen = all ? !seen_.losses().empty() : summary_.count(abi::RecordType::gap) > 0;
    const bool lost =
        seen || !backward_.numbers_back().empty() || trace::sum_of(reader.losses()) > 0;
    return lost || reader.damaged() ? Status::failed : Status::fine;
}

bool is_whole(const trace::TraceReader& reader) {
    return reader.sound() && reader.missing_part().empty() && reader.end()->lost == 0 &&
           trace::sum_of(reader.losses()) == 0;
}

Status status_of(const trace::TraceReader& reader) {
    const bool whole = is_whole(reader) && why_incomplete(reader).empty();
    return whole ? Status::fine : Status::failed;
}

std::optional<abi::Loss> LossFinder::add(const Event& event) {
    const abi::Record& record = event.record;
    Cpu& cpu = cpus_[record.cpu];
    if (!cpu.known) {
        cpu = {true, record.cpu_sequence, record.cpu_sequence};
    }
    if (trace::goes_back(record.cpu_sequence, cpu.next)) {
        return std::nullopt; // nothing is missing before what was there before
    }
    const trace::Hole hole = trace::hole_at(cpu.next, record);
    cpu.next += static_cast<std::uint32_t>(event.payload().pieces.size());
    const abi::Loss loss{record.cpu, hole.first, trace::add_lost(hole.in_front, hole.announced),
                         record.time};
    lost_ = trace::add_lost(lost_, loss.count);
    return loss.count == 0 ? std::nullopt : std::optional(loss);
}

std::vector<abi::Loss> LossFinder::rest(std::span<const abi::Loss> losses) const {
    std::vector<abi::Loss> rest;
    for (const abi::Loss& loss : losses) {
        const Cpu cpu = loss.cpu < cpus_.size() ? cpus_[loss.cpu] : Cpu();
        if (!cpu.known || loss.first_sequence - cpu.first >= cpu.next - cpu.first) {
            rest.push_back(loss);
        }
    }
    return rest;
}

} // namespace mmioscope::reading
