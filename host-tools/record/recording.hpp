// Writes a stream into trace files, one boot after another, with the losses and their causes.
#pragma once

#include "file/console_text.hpp"
#include "file/file_writer.hpp"
#include "file/packing.hpp"
#include "file/texts.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "system/error.hpp"
#include "tree/device_names.hpp"
#include "view/live_printer.hpp"
#include "wire/stream_head.hpp"
#include "wire/wire_decoder.hpp"
#include "wire/wire_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::record {

// One boot of a machine, from its stream: its description, its records, and how it ended.

class Boot {
public:
    /// `tree`: of its board; it names the devices.
    Boot(const wire::StreamHead& head, std::vector<std::byte> tree);

    void add(std::span<const abi::Record> records);
    void others(std::span<const std::uint32_t> of_cpus) {
        others_.assign(of_cpus.begin(), of_cpus.end());
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics);
    void unfinished(std::span<const abi::UnfinishedAccess> accesses) {
        unfinished_.assign(accesses.begin(), accesses.end());
    }

    /// How the sender said that it ended; nothing if it did not say.
    const std::optional<abi::EndHeader>& ended() const { return end_; }
    /// The accesses in whose middle its CPUs were at that end.
    std::span<const abi::UnfinishedAccess> unfinished() const { return unfinished_; }

    const wire::StreamHead& head() const { return head_; }
    std::span<const std::byte> tree() const { return tree_; }
    const trace::Summary& summary() const { return summary_; }
    const trace::LossCounter& losses() const { return losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }

    /// The table of devices, as view::fitted_text() shows it, other records and statistics, as
    /// lines. `own` includes the hypervisor's own accesses and counters.
    std::string tables(bool own, std::size_t width) const;

private:
    wire::StreamHead head_;
    std::vector<std::byte> tree_;
    tree::DeviceNames names_;
    trace::LossCounter losses_;
    trace::Summary summary_;
    std::optional<abi::EndHeader> end_;
    std::vector<abi::Statistics> statistics_;
    std::vector<abi::UnfinishedAccess> unfinished_;
    std::vector<std::uint32_t> others_; ///< of the next end
};

/// The ending of a trace file for a boot that ended for this `reason`.
abi::Ending ending_of(abi::StreamEnd reason);

// The options for recording a stream.

struct Options {
    std::string command;      ///< the complete command line; empty: none
    std::string source;       ///< wire/address.hpp
    unsigned baud = 115'200;  ///< of a serial port
    bool reconnect = true;    ///< reconnect when the other side is lost
    bool forever = false;     ///< continue after power-off: the machine may be switched on again
    std::string output;       ///< trace file; empty: none
    bool plain = false;       ///< leave its records unpacked
    std::uint64_t rotate = 0; ///< bytes after which a new file begins; 0: never
    bool follow = false;      ///< print while recording
    view::LiveOptions live;   ///< what to print, and how
    double time_limit = 0;    ///< seconds; 0: none
    std::string console;      ///< file for everything else on the wire; empty: none
    std::vector<std::string>
        symbols;         ///< files that name the guest's code (symbols/symbol_files.hpp)
    std::string tree;    ///< the board's device tree, for names; empty: unknown
    std::string control; ///< unix socket through which others may send commands; empty: none

    /// All files that are read.
    std::vector<std::string> inputs() const {
        std::vector<std::string> all = symbols;
        all.insert(all.end(), {source, tree});
        all.insert(all.end(), live.events.registers.begin(), live.events.registers.end());
        return all;
    }
};

/// Smaller files would contain little but their heads.
inline constexpr std::uint64_t min_rotate = 1 << 20;

// The trace files of a recording, one after the other, each complete and readable by itself.

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

/// Why a recording ended.
struct RecordingEnd {
    abi::Ending ending;
    std::string why; ///< part of a sentence; empty if the machine ended by itself
};

class Recording : private wire::WireSink {
public:
    /// Writes to `parts`, which belong to the caller. `report` gets the lines about each boot that
    /// another one follows. `own`: these lines, and the last ones, include the hypervisor's own
    /// accesses. `width`: of tables (view::fitted_text()).
    Recording(Parts& parts, std::function<void(const std::string& lines)> report, bool own,
              std::size_t width);

    /// The next bytes of the stream. Throws Error: bad_input if they have a newer version, failed
    /// if the file cannot be written.
    void feed(std::span<const std::byte> bytes) {
        capture_.feed(bytes);
        decoder_.feed(bytes);
    }

    /// The guest's console output, received beside the stream.
    void console(std::span<const std::byte> text);

    /// Bytes before and after this are not contiguous.
    void broken_off();

    /// How the boot ended; nothing while it runs, or before the first one.
    std::optional<abi::StreamEnd> ended() const;

    /// The stream is over: completes the file.
    void end_files(const RecordingEnd& stop);
    /// After that: the last lines to print, tables and verdict. `damage`: what is wrong with the
    /// files, read back; empty: nothing. Sets `complete` if all boots are complete.
    std::string finish(const RecordingEnd& stop, const std::string& damage, bool& complete);

    /// Whether a boot has begun.
    bool begun() const { return boots_ != 0; }

    std::uint64_t events() const {
        return earlier_events_ + (boot_ ? boot_->summary().events() : 0);
    }
    std::uint64_t bytes() const { return decoder_.counts().bytes; }
    double bytes_per_event() const;

private:
    void hello(const wire::StreamHead& head) override;
    void previous_boot(std::span<const std::byte> area) override;
    void records(std::span<const abi::Record> records) override;
    void others(std::span<const std::uint32_t> of_cpus) override { boot_->others(of_cpus); }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override;
    void unfinished(std::span<const abi::UnfinishedAccess> accesses) override;

    struct Closing {
        std::string tables;
        std::string verdict; ///< the lines of the policy and of the boot, without line end
    };

    abi::Ending ending(const RecordingEnd& stop) const;
    void end_file(const RecordingEnd& stop);
    Closing close_boot(const RecordingEnd& stop, const std::string& damage);
    std::string doubts(const RecordingEnd& stop) const;
    std::string stream_text() const;
    std::string stream_line() const;

    Parts& parts_;
    std::function<void(const std::string&)> report_;
    bool own_;
    std::size_t width_;
    std::unique_ptr<Boot> boot_;
    std::string console_; ///< its last line, and perhaps more
    unsigned boots_ = 0;
    unsigned incomplete_boots_ = 0;
    std::uint64_t earlier_events_ = 0; ///< of earlier boots
    wire::WireDecoder decoder_;
    wire::Capture capture_;
};

// The speed of a recording, for the progress line.

class Rate {
public:
    /// The totals, and the speed since the last call. `seconds` since the start.
    std::string text(double seconds, std::uint64_t events, std::uint64_t bytes);

private:
    double seconds_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t bytes_ = 0;
};

// One recording of a stream, from the first connection to the verdict.

/// Records as `options` say, and reports on standard output. Returns Status::fine only if each boot
/// ended by itself and nothing was lost. Throws Error if the source or the file cannot be opened.
/// The caller must ignore SIGPIPE.
Status record_stream(const Options& options);

} // namespace mmioscope::record
