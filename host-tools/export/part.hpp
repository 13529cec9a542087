// Writes a trace, or a part of it, as a trace file.
//
// Records keep their numbers, so an event is the same in the part and in the whole trace; the file
// says that the other records are not missing (file/texts.hpp). Sections other than records are
// copied to the same place.
#pragma once

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "reading/consumer.hpp"
#include "reading/loss_finder.hpp"
#include "reading/trace.hpp"
#include "records/task_table.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::exporting {

class Part final : public reading::Consumer {
public:
    /// What is taken of a trace.
    struct What {
        std::string words;     ///< for people; empty: all
        bool selected = false; ///< not all of its events (reading::selects())
        bool no_pc = false;    ///< none that tells where the guest's code is
    };

    explicit Part(What what) : what_(std::move(what)) {}

    /// Each section that the trace's reader comes to: TraceOptions::sections.
    void take(const trace::Section& section);

    /// The trace's head has been read. The file goes to `fd`, which stays the caller's, and which
    /// errors call `name`.
    void begin(const reading::Trace& trace, int fd, const std::string& name);
    /// The next event. Throws Error (failed), as finish() does.
    void add(const Event& event) override;
    /// There are no more. Of a trace that is cut off the part is, too.
    void finish() override;

    std::uint64_t events() const { return events_; }

private:
    bool wanted(abi::SectionType type) const;
    void put(abi::SectionType type, std::span<const std::byte> payload);
    std::string text() const;
    void note(const abi::Loss& loss);
    void hide_place(abi::Record& record) const;
    void tell_task(const Event& event);
    void tell_modules();
    void put_records();
    std::vector<abi::Loss> losses() const;

    What what_;
    const trace::TraceReader* reader_ = nullptr;
    std::vector<std::pair<abi::SectionType, std::vector<std::byte>>> head_; ///< before begin()
    trace::WriteProgress progress_;
    std::optional<trace::FileWriter> writer_;
    std::vector<abi::Record> records_; ///< that the writer has not yet, with their callers
    std::vector<trace::Caller> callers_;
    trace::TaskTable tasks_;    ///< as who reads the part will know them
    std::uint64_t modules_ = 0; ///< the last of the reader's, told or not to be told
    reading::LossFinder finder_;
    std::vector<abi::Loss> found_;
    std::uint64_t events_ = 0;
};

} // namespace mmioscope::exporting
