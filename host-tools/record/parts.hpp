// The trace files of a recording, one after the other, each complete and readable by itself.
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
    /// Creates the first file. `printer`, if not null, follows all files; it belongs to the caller.
    /// `known` about the guest goes into each file, without its lines. Throws Error (bad_input) if
    /// the file cannot be written.
    Parts(const Options& options, view::LivePrinter* printer, trace::About known = {});
    /// Lets the printer finish, however the recording ends.
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    /// The device tree for the files of a boot that begins with `head`: the board's, if it is
    /// known, otherwise one with the aliases alone.
    std::vector<std::byte> tree(const wire::StreamHead& head) const {
        return known_.tree.empty() ? wire::alias_tree(head) : known_.tree;
    }

    /// What follows is from `boot`, which belongs to the caller and must live until finish(). Uses
    /// the first file, or begins the next one.
    void begin(const Boot& boot);

    /// The next records of the boot, which already knows them. Begins a new file when this one gets
    /// too large.
    void append(std::span<const abi::Record> records);
    /// What the boot kept of the previous one: goes into the current file.
    void keep_previous_boot(std::span<const std::byte> area) {
        writer_->section(abi::SectionType::previous_boot, area);
    }
    /// What the guest has just printed. Dropped before a boot.
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

    /// The boot is over. `about`: "key=value" lines.
    void finish(abi::Ending ending, const std::string& about);

    unsigned count() const { return number_; }

    /// The first damage in finished files, of which no earlier call told (file/packing.hpp). Waits
    /// for what is not read back yet, but only a moment, because the wire goes on.
    std::string take_damage() { return packing_.take_damage(std::chrono::seconds(1)); }
    /// Likewise at the end: waits until all files are read back, and packed if they are to be.
    std::string finish_packing() { return packing_.finish(true); }

private:
    void create(bool continued);
    void write_head();
    void close(abi::Ending ending, const std::string& about);
    std::size_t room() const;

    const Options& options_;
    view::LivePrinter* printer_;
    trace::About known_;
    const Boot* boot_ = nullptr;
    std::vector<abi::Loss> written_losses_; ///< losses of the boot in earlier files
    trace::Policies policies_;              ///< of the boot, up to the last written record
    abi::Record last_{};                    ///< the last written record
    std::uint64_t head_size_ = 0;           ///< bytes of the file before its first record
    unsigned number_ = 0;
    bool used_ = false; ///< the file has had a boot
    std::shared_ptr<trace::FollowedFile> file_;
    std::unique_ptr<trace::FileWriter> writer_;
    std::optional<trace::ConsoleWriter> console_; ///< for the boot's file
    trace::Packing packing_;
};

} // namespace mmioscope::record
