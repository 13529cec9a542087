#include "run/qemu_version.hpp"

#include "run/log_file.hpp"
#include "run/process.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope::run {

namespace {

/// The beginning of what it prints; empty if that takes more than two seconds. (QEMU's -d help
/// ends with status 1.)
std::string output_of(const std::string& qemu, const std::vector<std::string>& arguments) {
    using namespace std::chrono_literals;
    const FileDescriptor messages = memory_file("messages", 0);
    std::vector<std::string> command{qemu};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Process process(qemu, command, messages.get(), false);
    return process.wait(2s) ? beginning(messages.get(), 8192) : "";
}

} // namespace

std::string qemu_version(const std::string& qemu) {
    constexpr std::string_view start = "QEMU emulator version ";
    const std::string text = output_of(qemu, {"--version"});
    const std::string line = text.substr(0, text.find('\n'));
    return line.starts_with(start) ? line.substr(start.size()) : "";
}

std::string refused_accesses(const std::string& qemu) {
    const bool apart = output_of(qemu, {"-d", "help"}).find("\ninvalid_mem ") != std::string::npos;
    return apart ? "guest_errors,invalid_mem" : "guest_errors";
}

} // namespace mmioscope::run
