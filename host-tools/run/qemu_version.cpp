#include "run/qemu_version.hpp"

#include "run/log_file.hpp"
#include "run/process.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope::run {

std::string qemu_version(const std::string& qemu) {
    using namespace std::chrono_literals;
    constexpr std::string_view start = "QEMU emulator version ";
    const FileDescriptor messages = memory_file("messages", 0);
    Process process(qemu, {qemu, "--version"}, messages.get(), false);
    if (const std::optional<Exit> exit = process.wait(2s); !exit || !exit->fine()) {
        return {};
    }
    const std::string text = beginning(messages.get(), 200);
    const std::string line = text.substr(0, text.find('\n'));
    return line.starts_with(start) ? line.substr(start.size()) : "";
}

} // namespace mmioscope::run
