#include "file/packing.hpp"

#include "file/console_text.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "file/packer.hpp"
#include "file/texts.hpp"
#include "file/used_code.hpp"
#include "records/groups.hpp"
#include "records/module_table.hpp"
#include "records/task_table.hpp"
#include "symbols/section.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/replaced_file.hpp"
#include "system/signals.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace mmioscope::trace {

Packing::~Packing() {
    given_up_ = true;
    close();
}

void Packing::add(FinishedFile file) {
    const std::lock_guard lock(mutex_);
    unread_.push_back(std::move(file));
    changed_.notify_all();
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
    }
}

std::string Packing::take_damage(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return unread_.empty() && !reading_; });
    return std::exchange(damage_, "");
}

void Packing::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::string Packing::finish(bool shows_progress) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds moment{50};
    Signals signals;
    ProgressLine progress(shows_progress);
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    while (thread_.joinable() && !changed_.wait_for(lock, moment, [this] { return over_; })) {
        given_up_ = given_up_ || signals.pending();
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        if (elapsed.count() > 0.5) {
            progress.show(elapsed.count(),
                          [this] { return fmt::format("packing: {} %", percent_.load()); });
        }
    }
    lock.unlock();
    progress.clear();
    close();
    return std::exchange(damage_, "");
}

// All files are read back before the next one is packed: a verdict waits for that.
void Packing::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !unread_.empty() || !unpacked_.empty(); });
        std::deque<FinishedFile>& next = unread_.empty() ? unpacked_ : unread_;
        if (next.empty()) {
            break;
        }
        const FinishedFile file = std::move(next.front());
        next.pop_front();
        reading_ = &next == &unread_;
        const bool reads = reading_;
        lock.unlock();
        reads ? read(file) : pack(file);
        lock.lock();
        reading_ = false;
        changed_.notify_all();
    }
    over_ = true;
    changed_.notify_all();
}

void Packing::damaged(const std::string& why) {
    const std::lock_guard lock(mutex_);
    damage_ = damage_.empty() ? why : damage_;
}

void Packing::read(const FinishedFile& file) {
    try {
        read_back(file);
    } catch (const std::exception& error) {
        damaged(error.what());
        return;
    }
    if (wanted_) {
        const std::lock_guard lock(mutex_);
        unpacked_.push_back(file);
    }
}

void Packing::pack(const FinishedFile& file) {
    try {
        pack_file(file.path, file.file->file.get(), [this](std::uint64_t done, std::uint64_t size) {
            percent_ = size == 0 ? 100 : done * 100 / size;
            return !given_up_;
        });
        return;
    } catch (const std::exception& error) {
        print_message("mmioscope: {} was not packed, and is as it was recorded: {}\n",
                      for_terminal(file.path), error.what());
    }
    try { // if the file was not what it was
        read_back(file);
    } catch (const std::exception& error) {
        damaged(error.what());
    }
}

namespace {

using abi::SectionType;

static_assert(symbols::max_section == max_payload);

/// Whether one of the tasks is of a single record.
bool names_records(std::span<const std::byte> tasks) {
    for (; tasks.size() >= sizeof(TaskEntry); tasks = tasks.subspan(sizeof(TaskEntry))) {
        TaskEntry entry;
        std::memcpy(&entry, tasks.data(), sizeof entry);
        if (entry.kind == TaskKey::record) {
            return true;
        }
    }
    return false;
}

/// A section of names without those that no address in `used` needs; nothing for other sections.
std::optional<std::vector<std::byte>> needed_names(const Section& section,
                                                   std::span<const std::uint32_t> used) {
    try {
        if (section.type == symbols_section) {
            return symbols::only_used(section.payload, used);
        }
    } catch (const Error&) { // damaged: readers report it
        return std::nullopt;
    }
    if (section.type == modules_section) {
        const std::string names = only_used(
            {reinterpret_cast<const char*>(section.payload.data()), section.payload.size()}, used);
        const auto bytes = std::as_bytes(std::span(names));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    }
    return std::nullopt;
}

/// Small sections of one type, to be written as one.
class Joined {
public:
    explicit Joined(abi::SectionType type) : type_(type) {}

    void add(std::span<const std::byte> payload, FileWriter& to) {
        if (payload_.size() + payload.size() > most) {
            write(to);
        }
        payload_.insert(payload_.end(), payload.begin(), payload.end());
    }
    void write(FileWriter& to) {
        if (!payload_.empty()) {
            to.section_packed(type_, payload_);
            payload_.clear();
        }
    }

private:
    static constexpr std::size_t most = 1u << 20; ///< bytes, unless one section has more

    abi::SectionType type_;
    std::vector<std::byte> payload_;
};

/// Writes sections to a file, with records in blocks.
class Copy {
public:
    /// `used`: the addresses whose names are kept; nothing: all names are.
    Copy(int fd, std::optional<std::vector<std::uint32_t>> used)
        : writer_(fd, progress_), used_(std::move(used)) {}

    void add(const Section& section) {
        if (section.type == SectionType::records) {
            add(section.records(), section.callers);
        } else if (section.type == SectionType::end) {
            end(section.payload);
        } else if (section.type != SectionType::index && section.type != callers_section &&
                   !join(section)) {
            if (section.type != modules_section) {
                put_block(records_.size());
            }
            put(section);
        }
    }

    bool ended() const { return ended_; }
    std::uint64_t size() const { return writer_.size(); }

private:
    void add(std::span<const abi::Record> records, std::span<const Caller> callers) {
        for (std::size_t i = 0; i < records.size(); ++i) {
            records_.push_back(records[i]);
            callers_.push_back(callers.empty() ? lr_holds : callers[i]);
            if (records_.size() == trace::most_records) {
                put_block(whole_groups(records_));
            }
        }
    }

    // The entries of these sections say from what time on they apply, so they may be moved before
    // more records, like modules. Names for single records may not: the next record's own entry
    // replaces them.
    bool join(const Section& section) {
        if (section.type == tasks_section && !names_records(section.payload)) {
            const std::size_t rest = section.payload.size() % sizeof(TaskEntry);
            tasks_.add(section.payload.first(section.payload.size() - rest), writer_);
        } else if (section.type == console_section) {
            std::span<const std::byte> rest = section.payload;
            while (next_piece(rest)) {
            }
            console_.add(section.payload.first(section.payload.size() - rest.size()), writer_);
        } else {
            return false;
        }
        return true;
    }

    void put_joined() {
        tasks_.write(writer_);
        console_.write(writer_);
    }

    void put(const Section& section) {
        if (section.type != trace::packed_section) {
            const auto names = used_ ? needed_names(section, *used_) : std::nullopt;
            writer_.section_packed(section.type, names ? *names : section.payload);
        } else if (const auto front = trace::block_header(section.payload)) {
            count_ += front->count;
            writer_.packed(section.payload, {front->count, {front->earliest, front->latest}, true});
        }
    }

    // Of the first `count` records.
    void put_block(std::size_t count) {
        put_joined();
        if (count == 0) {
            return;
        }
        const auto records = std::span(records_).first(count);
        const auto callers = std::span(callers_).first(count);
        const std::span<const std::byte> block = packer_.pack(records, callers);
        unpacker_.open(block);
        const auto back = unpacker_.decode(trace::ColumnSet::all());
        const bool same =
            back.size() == count &&
            std::memcmp(back.data(), records_.data(), back.size_bytes()) == 0 &&
            (unpacker_.callers().empty() || std::ranges::equal(unpacker_.callers(), callers));
        if (!same) {
            throw failure("a packed block does not unpack to its records");
        }
        writer_.packed(block, extent_of(records));
        count_ += count;
        const auto end = static_cast<std::ptrdiff_t>(count);
        records_.erase(records_.begin(), records_.begin() + end);
        callers_.erase(callers_.begin(), callers_.begin() + end);
    }

    void end(std::span<const std::byte> payload) {
        put_block(records_.size());
        const abi::End end = end_of(payload);
        if (ended_ || end.records != count_) {
            throw failure("its records do not match the counts at its end");
        }
        ended_ = true;
        writer_.finish(end.lost, end.ending);
    }

    WriteProgress progress_;
    FileWriter writer_;
    std::optional<std::vector<std::uint32_t>> used_;
    Joined tasks_{tasks_section};
    Joined console_{console_section};
    trace::Packer packer_;
    trace::Unpacker unpacker_;
    std::vector<abi::Record> records_;
    std::vector<Caller> callers_;
    std::uint64_t count_ = 0;
    bool ended_ = false;
};

/// Calls `see` with each section of a file and where the next one begins.
template <typename See>
void read_all(ByteSource& source, See see) {
    source.seek(0);
    FileReader reader(source, [](const std::string& text) { throw failure("{}", text); });
    while (const std::optional<Section> section = reader.next()) {
        if (section->cut) {
            throw failure("it is cut off");
        }
        see(*section, reader.offset());
    }
}

void check(bool goes_on) {
    if (!goes_on) {
        throw failure("interrupted");
    }
}

bool same_content(const struct stat& a, const struct stat& b) {
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

struct stat status_of(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || ::lseek(fd, 0, SEEK_SET) < 0) {
        throw failure("cannot read it: {}", std::strerror(errno));
    }
    return status;
}

} // namespace

void pack_file(const std::string& path, int fd, const GoesOn& goes_on) {
    if (!is_replaceable(path)) {
        return;
    }
    const struct stat status = status_of(fd);
    ReplacedFile replacement(path, fd);
    FileSource source(fd);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    UsedCode used;
    read_all(source, [&](const Section& section, std::uint64_t) {
        used.see(section);
        check(goes_on(0, size));
    });
    Copy copy(replacement.fd(), used.addresses());
    read_all(source, [&](const Section& section, std::uint64_t offset) {
        copy.add(section);
        check(goes_on(offset, size));
    });
    if (!copy.ended()) {
        throw failure("it has no end");
    }
    if (!same_content(status, status_of(fd))) {
        throw failure("it was changed meanwhile");
    }
    if (copy.size() >= size) {
        return;
    }
    if (::fsync(replacement.fd()) != 0) { // first: after a crash one of the two files exists
        throw failure("cannot write the copy: {}", std::strerror(errno));
    }
    replacement.commit();
}

} // namespace mmioscope::trace
