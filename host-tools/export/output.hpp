// The output of an export: standard output, or a file that is written atomically.
#pragma once

#include "export/unfinished.hpp"
#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"

#include <optional>
#include <string>

namespace mmioscope::exporting {

class Output {
public:
    /// "-" is standard output. Writes directly to a pipe or device. Throws Error (bad_input) if the
    /// path cannot be written.
    explicit Output(const std::string& path);

    int fd() const;
    const std::string& name() const { return name_; }
    bool terminal() const;
    /// Whether the output stays invisible until finish().
    bool held_back() const { return replaced_.has_value(); }

    /// Gives the complete file its name. Throws Error (failed).
    void finish();

private:
    std::string name_;
    FileDescriptor file_; ///< a pipe or device, or a file of somebody else
    std::optional<ReplacedFile> replaced_;
    std::optional<Unfinished> unfinished_; ///< removes it if a signal ends the program
};

} // namespace mmioscope::exporting
