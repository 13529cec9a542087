// Writes a trace, or a part of it, as a trace file.
//
// Records keep their numbers, so an event is the same in the part and in the whole trace. The file
// says that the other records are not missing (file/texts.hpp). Other sections are copied to the
// same place.
#pragma once

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "reading/drive.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "records/task_table.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::exporting {

class Part final : public reading::Consumer {
public:
    /// What to take from a trace.
    struct What {
        std::string words;     ///< description for people; empty: all
        bool selected = false; ///< only some events (reading::selects())
        bool no_pc = false;    ///< leave out addresses of the guest's code
    };

    explicit Part(What what) : what_(std::move(what)) {}

    /// Takes each section that the reader reads: TraceOptions::sections.
    void add_section(const trace::Section& section);

    /// Called after the trace's head is read. Writes to `fd`, which belongs to the caller; its name
    /// in errors is `name`.
    void begin(const reading::Trace& trace, int fd, const std::string& name);
    /// The next event. Throws Error (failed), as does finish().
    void add(const Event& event) override;
    /// After the last event. If the trace is cut off, the part is, too.
    void finish() override;

    std::uint64_t events() const { return events_; }

private:
    bool wanted(abi::SectionType type) const;
    void put(abi::SectionType type, std::span<const std::byte> payload);
    std::string text() const;
    void note(const abi::Loss& loss);
    void hide_place(abi::Record& record) const;
    void write_task(const Event& event);
    void write_modules();
    void put_records();
    std::vector<abi::Loss> losses() const;

    What what_;
    const trace::TraceReader* reader_ = nullptr;
    std::vector<std::pair<abi::SectionType, std::vector<std::byte>>> head_; ///< from before begin()
    trace::WriteProgress progress_;
    std::optional<trace::FileWriter> writer_;
    std::vector<abi::Record> records_; ///< not yet in the writer, with their callers
    std::vector<trace::Caller> callers_;
    trace::TaskTable tasks_; ///< as a reader of the part will know them; empty if all is selected
    std::uint64_t modules_ = 0; ///< the reader's last, written or left out
    reading::LossFinder finder_;
    std::vector<abi::Loss> found_;
    std::uint64_t events_ = 0;
};

} // namespace mmioscope::exporting
