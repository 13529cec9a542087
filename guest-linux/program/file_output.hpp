// A recording as a trace file (abi/container.hpp).
#pragma once

#include "file/file_writer.hpp"
#include "output.hpp"

namespace mmioscope::guest {

class FileOutput : public Output {
public:
    /// Writes the sections before the records to `file`, which is empty. `about`: lines
    /// "key=value".
    FileOutput(FileDescriptor file, const rings::Area& area, const std::string& about);

    void append(std::span<const abi::Record> records) override { writer_.append(records); }
    void flush() override { writer_.flush(); }
    void finish(const Closing& closing) override;

private:
    FileDescriptor file_;
    trace::WriteProgress progress_;
    trace::FileWriter writer_;
};

} // namespace mmioscope::guest
