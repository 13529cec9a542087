// The trace files of a recording: one after the other, each whole and readable by itself.
#pragma once

#include "file/about.hpp"
#include "file/console_writer.hpp"
#include "file/file_writer.hpp"
#include "file/follow.hpp"
#include "file/packing.hpp"
#include "record/boot.hpp"
#include "record/options.hpp"
#include "view/live_printer.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::record {

class Parts {
public:
    /// Creates the first file. `printer`, if there is one, follows them all; it stays the caller's.
    /// `known`: of the guest, for each file; its lines are not used.
    /// Throws Error (bad_input) if it cannot be written.
    Parts(const Options& options, view::LivePrinter* printer, trace::About known = {});
    /// Lets the printer come to its end, whatever ends the recording.
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    /// What follows is of `boot`, which stays the caller's until finish(): in the first file, or in
    /// the next one.
    void begin(const Boot& boot);

    /// The next records of the boot, which it has been told of. Begins the next file where this one
    /// gets too large.
    void append(std::span<const abi::Record> records);
    /// What the boot has kept of the one before it: goes into the file that is being written.
    void keep_previous_boot(std::span<const std::byte> area) {
        writer_->section(abi::SectionType::previous_boot, area);
    }
    /// What the guest has just printed. Before a boot there is no place for it.
    void console(std::span<const std::byte> text) {
        if (console_ && !text.empty()) {
            console_->add(text);
        }
    }
    void flush() {
        if (writer_) {
            writer_->flush();
        }
    }

    /// Nothing more comes from the boot. `about`: "key=value" lines.
    void finish(abi::Ending ending, const std::string& about);

    unsigned count() const { return number_; }

    /// Waits until finished files are packed, where they are to be.
    void finish_packing() { packing_.finish(true); }

private:
    void create(bool continued);
    void write_head();
    void close(abi::Ending ending, const std::string& about);
    std::size_t room() const;

    const Options& options_;
    view::LivePrinter* printer_;
    trace::About known_;
    const Boot* boot_ = nullptr;
    std::vector<abi::Loss> written_losses_; ///< losses of the boot, in the files before this one
    trace::Policies policies_;              ///< of the boot, up to the last record written
    std::uint64_t head_size_ = 0;           ///< bytes of the file before its first record
    unsigned number_ = 0;
    bool used_ = false; ///< the file has been of a boot
    std::shared_ptr<trace::FollowedFile> file_;
    std::unique_ptr<trace::FileWriter> writer_;
    std::optional<trace::ConsoleWriter> console_; ///< of the boot's file
    trace::Packing packing_;
};

} // namespace mmioscope::record
