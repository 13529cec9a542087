// A recording as a trace file (abi/container.hpp).
#pragma once

#include "announced.hpp"
#include "file/file_writer.hpp"
#include "file/read_back.hpp"
#include "output.hpp"
#include "system/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::guest {

class FileOutput : public Output {
public:
    /// Writes the sections before the records to `file`, which is empty and has the name `path`.
    /// `about`: lines "key=value".
    FileOutput(std::string path, FileDescriptor file, const rings::Area& area,
               const std::string& about)
        : path_(std::move(path)), file_(std::move(file)), writer_(file_.get(), progress_, path_) {
        const abi::Info info = area.info();
        writer_.values(abi::SectionType::info, std::span(&info, 1));
        writer_.section(abi::SectionType::device_tree, device_tree());
        writer_.values(abi::SectionType::regions,
                       std::span<const abi::RegionEntry>(area.regions()));
        writer_.text(about);
    }

    void append(std::span<const abi::Record> records) override { writer_.append(records); }
    void flush() override { writer_.flush(); }

    void finish(const Closing& closing) override {
        writer_.flush();
        writer_.values(abi::SectionType::losses,
                       std::span<const abi::Loss>(closing.losses.losses()));
        writer_.values(abi::SectionType::statistics,
                       std::span<const abi::Statistics>(closing.statistics));
        writer_.text(closing.text);
        writer_.finish(closing.losses.lost(), closing.ending);
        read_it_back();
    }

    std::string doubt() const override { return damage_; }

private:
    // Some file systems only find here that the disk is full; and the machine may be switched off
    // next. A device or a pipe has nothing to write back.
    void read_it_back() try {
        if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) {
            throw failure("{} cannot be written: {}", path_, std::strerror(errno));
        }
        trace::read_back(path_, file_.get(), writer_.written());
    } catch (const Error& error) {
        damage_ = error.what();
    }

    std::string path_;
    FileDescriptor file_;
    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    std::string damage_; ///< what was read back is not what was written: part of a sentence
};

} // namespace mmioscope::guest
