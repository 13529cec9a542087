#include "run/machine_tree.hpp"

#include "run/log_file.hpp"
#include "run/process.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;

/// QEMU needs milliseconds to describe a machine.
constexpr auto dump_patience = 10s;

bool ends_well(Process& process) {
    const std::optional<Exit> exit = process.wait(dump_patience);
    return exit && exit->fine();
}

/// QEMU writes a file and renames it, so it needs a folder. The destructor removes it.
class TemporaryFolder {
public:
    TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "mmioscope-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw failure("cannot make a folder in {}: {}", path_, std::strerror(errno));
        }
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace

Bytes machine_tree(const Board& board, const Options& options, const std::string& qemu) {
    const TemporaryFolder folder;
    const FileDescriptor messages = memory_file("messages", 0);
    const std::string path = folder.file("machine.dtb");
    Process process(qemu,
                    {qemu, "-M", fmt::format("{},dumpdtb={}", board.described_by, path), "-cpu",
                     std::string(board.cpu), "-smp", fmt::format("{}", options.cpus), "-m",
                     fmt::format("{}M", options.memory >> 20), "-nic", "none", "-display", "none",
                     "-audiodev", "none,id=audio"},
                    messages.get(), false);
    if (!ends_well(process)) {
        throw failure("QEMU did not write a device tree for {}: {}", board.name,
                      last_lines(messages.get(), 1));
    }
    const Bytes tree = read_input(path, "device tree");
    check_tree(tree, path);
    return tree;
}

} // namespace mmioscope::run
