#include "file/pack_file.hpp"

#include "file/console_text.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "pack/unpacker.hpp"
#include "records/module_table.hpp"
#include "records/task_table.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace mmioscope::trace {

namespace {

using abi::SectionType;

/// A new file that replaces another one or is deleted.
class Replacement {
public:
    Replacement(const std::string& path, const struct stat& like)
        : path_(path), beside_(path + ".packing"), file_(create_output(beside_)) {
        // The same readers for both. A file of another user keeps its owner, if permitted.
        if (::fchmod(file_.get(), like.st_mode & 07777) != 0 ||
            (::fchown(file_.get(), like.st_uid, like.st_gid) != 0 && errno != EPERM)) {
            throw failure("cannot write {}: {}", beside_, std::strerror(errno));
        }
    }
    ~Replacement() {
        if (!done_) {
            ::unlink(beside_.c_str());
        }
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    int fd() const { return file_.get(); }

    // Sync first: after a crash one of the two files exists.
    void commit() {
        if (::fsync(file_.get()) != 0 || ::rename(beside_.c_str(), path_.c_str()) != 0) {
            throw failure("cannot write {}: {}", path_, std::strerror(errno));
        }
        done_ = true;
    }

private:
    std::string path_;
    std::string beside_;
    FileDescriptor file_;
    bool done_ = false;
};

// These say from what time on they apply, so they may be moved before more records. Names for
// single records may not: the next record's own entry replaces them.
bool may_come_earlier(const Section& section) {
    if (section.type == tasks_section) {
        for (auto rest = section.payload; rest.size() >= sizeof(TaskEntry);
             rest = rest.subspan(sizeof(TaskEntry))) {
            TaskEntry entry;
            std::memcpy(&entry, rest.data(), sizeof entry);
            if (entry.kind == TaskKey::record) {
                return false;
            }
        }
        return true;
    }
    return section.type == console_section || section.type == modules_section;
}

/// Writes sections to a file, with records in blocks.
class Copy {
public:
    explicit Copy(int fd) : writer_(fd, progress_) {}

    void take(const Section& section) {
        if (section.type == callers_section) {
            callers_ahead_.assign(section.payload.begin(), section.payload.end());
        } else if (section.type == SectionType::records) {
            add(section.records());
        } else if (section.type == SectionType::end) {
            end(section.payload);
        } else if (section.type != SectionType::index) {
            if (!may_come_earlier(section)) {
                put_block();
            }
            put(section);
        }
    }

    bool ended() const { return ended_; }
    std::uint64_t size() const { return writer_.size(); }

private:
    // Callers belong to the records that follow.
    void add(std::span<const abi::Record> records) {
        const auto callers = callers_of(callers_ahead_, records.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            records_.push_back(records[i]);
            callers_.push_back(callers.empty() ? lr_holds : callers[i]);
            if (records_.size() == pack::most_records) {
                put_block();
            }
        }
        callers_ahead_.clear();
    }

    void put(const Section& section) {
        if (section.type != pack::packed_section) {
            writer_.section_packed(section.type, section.payload);
        } else if (const auto front = pack::block_front(section.payload)) {
            count_ += front->count;
            writer_.packed(section.payload, {front->count, front->times, true});
        }
    }

    void put_block() {
        if (records_.empty()) {
            return;
        }
        const std::span<const std::byte> block = packer_.pack(records_, callers_);
        unpacker_.open(block);
        const auto back = unpacker_.decode(pack::ColumnSet::all());
        const bool same =
            back.size() == records_.size() &&
            std::memcmp(back.data(), records_.data(), back.size_bytes()) == 0 &&
            (unpacker_.callers().empty() || std::ranges::equal(unpacker_.callers(), callers_));
        if (!same) {
            throw failure("a packed block does not unpack to its records");
        }
        writer_.packed(block, extent_of(records_));
        count_ += records_.size();
        records_.clear();
        callers_.clear();
    }

    void end(std::span<const std::byte> payload) {
        put_block();
        abi::End end{};
        std::ranges::copy(payload.first(std::min(payload.size(), sizeof end)),
                          std::as_writable_bytes(std::span(&end, 1)).begin());
        if (ended_ || end.records != count_) {
            throw failure("its records do not match the counts at its end");
        }
        ended_ = true;
        writer_.finish(end.lost, end.ending);
    }

    WriteProgress progress_;
    FileWriter writer_;
    pack::Packer packer_;
    pack::Unpacker unpacker_;
    std::vector<std::byte> callers_ahead_; ///< section for the records to come
    std::vector<abi::Record> records_;
    std::vector<Caller> callers_;
    std::uint64_t count_ = 0;
    bool ended_ = false;
};

/// The target of `path`: a link stays a link.
std::string real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (!real) {
        throw failure("cannot find it: {}", std::strerror(errno));
    }
    return real.get();
}

} // namespace

void pack_file(const std::string& path, const GoesOn& goes_on) {
    const FileDescriptor file = open_input(path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        path.starts_with("/dev/") || path.starts_with("/proc/")) {
        return; // not the file's own name
    }
    Replacement replacement(real_path(path), status);
    FileSource source(file.get());
    FileReader reader(source, [](const std::string& text) { throw failure("{}", text); });
    Copy copy(replacement.fd());
    const auto size = static_cast<std::uint64_t>(status.st_size);
    while (const std::optional<Section> section = reader.next()) {
        if (section->cut) {
            throw failure("it is cut off");
        }
        copy.take(*section);
        if (!goes_on(reader.offset(), size)) {
            throw failure("interrupted");
        }
    }
    if (!copy.ended()) {
        throw failure("it has no end");
    }
    if (copy.size() < size) {
        replacement.commit();
    }
}

} // namespace mmioscope::trace
