#include "run/qemu_command.hpp"

#include "abi/layout.hpp"
#include "run/process.hpp"
#include "system/file_descriptor.hpp"

#include <fmt/format.h>

namespace mmioscope::run {

namespace {

using Arguments = std::vector<std::string>;

// In QEMU's lists of properties a comma in a value is doubled.
std::string escape(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        escaped.append(c == ',' ? 2 : 1, c);
    }
    return escaped;
}

void add(Arguments& to, std::initializer_list<std::string> arguments) {
    to.insert(to.end(), arguments);
}

void add_loader(Arguments& to, const std::string& path, std::uint64_t address) {
    add(to,
        {"-device", fmt::format("loader,file={},addr={:#x},force-raw=on", escape(path), address)});
}

void add_machine(Arguments& to, const Board& board, const Options& options, int ram) {
    add(to, {"-M", fmt::format("{},memory-backend=ram", board.machine)});
    if (!board.cpu.empty()) {
        add(to, {"-cpu", std::string(board.cpu)});
    }
    add(to, {"-object", fmt::format("memory-backend-file,id=ram,size={},mem-path={},share=on",
                                    options.memory, descriptor_path(ram))});
    add(to, {"-m", fmt::format("{}M", options.memory >> 20)});
    add(to, {"-smp", fmt::format("{}", board.cpus_soldered ? board.max_cpus : options.cpus)});
}

// The guest's console is this terminal or a file; a file gets its bytes in both cases.
void add_serials(Arguments& to, const Plan& plan, const QemuFiles& files) {
    const Board& board = plan.board;
    const Options& options = plan.options;
    const std::string log = descriptor_path(files.console_log);
    if (!options.stream_shared) { // otherwise it is in the stream, and separated later
        add(to, {"-chardev", options.console ? "stdio,id=guest,signal=on,logfile=" + log
                                             : "file,id=guest,path=" + log});
    }
    if (!board.one_serial()) {
        add(to, {"-chardev", "file,id=hyp,path=" + descriptor_path(files.hypervisor_log)});
    }
    if (files.stream >= 0) {
        add(to, {"-chardev", files.stream_socket < 0
                                 ? "file,id=stream,path=" + descriptor_path(files.stream)
                                 : fmt::format("socket,id=stream,fd={}", files.stream_socket)});
    }
    for (unsigned serial = 0; serial < board.serials; ++serial) {
        const bool guest = serial == board.guest_serial;
        const bool hypervisor = serial == plan.serials.hypervisor;
        const bool stream = serial == plan.serials.stream;
        add(to, {"-serial", stream       ? "chardev:stream"
                            : guest      ? "chardev:guest"
                            : hypervisor ? "chardev:hyp"
                                         : "null"});
    }
}

void add_devices(Arguments& to, const Board& board, const Options& options) {
    const bool network = options.network.value_or(true) && !board.network.empty();
    if (network && board.network_soldered) {
        add(to, {"-nic", fmt::format("user,id=net,model={}", board.network)});
    } else {
        add(to, {"-nic", "none"});
    }
    if (network && !board.network_soldered) {
        add(to, {"-netdev", "user,id=net"});
        add(to, {"-device", fmt::format("{},netdev=net", board.network)});
    }
    if (!options.sd_image.empty()) {
        add(to, {"-drive",
                 fmt::format("if=sd,format=raw,snapshot=on,file={}", escape(options.sd_image))});
    }
}

// QEMU logs no write that only wakes up a thread of its own, as virtio's notifications do
// since 8.1.
void add_access_log(Arguments& to, int log, const std::string& refused) {
    if (log >= 0) {
        add(to, {"-D", descriptor_path(log), "-trace", "memory_region_ops_read", "-trace",
                 "memory_region_ops_write", "-d", refused, "-global", "virtio-mmio.ioeventfd=off",
                 "-global", "virtio-pci.ioeventfd=off"});
    }
}

// What QEMU does when the guest powers off or resets the machine.
void add_ending(Arguments& to, int monitor) {
    if (monitor < 0) {
        add(to, {"-no-reboot"});
        return;
    }
    add(to, {"-action", "reboot=shutdown,shutdown=pause"});
    add(to, {"-chardev", fmt::format("socket,id=monitor,fd={}", monitor)});
    add(to, {"-mon", "chardev=monitor,mode=control"});
}

} // namespace

std::string descriptor_path(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

Arguments qemu_command(const Plan& plan, const QemuFiles& files) {
    const Board& board = plan.board;
    const Options& options = plan.options;
    Arguments arguments{options.qemu};
    add_machine(arguments, board, options, files.ram);
    add(arguments,
        {"-kernel", files.boot_image < 0 ? plan.hypervisor : descriptor_path(files.boot_image)});
    if (!board.described_by.empty()) {
        // Or QEMU makes one of a MiB at the beginning of the RAM, where a bare guest may lie.
        add(arguments, {"-dtb", descriptor_path(files.tree)});
    }
    if (plan.program.load_at) {
        add_loader(arguments, options.kernel, *plan.program.load_at);
    } else { // QEMU reads the segments
        add(arguments, {"-device", "loader,file=" + escape(options.kernel)});
    }
    if (!options.ramdisk.empty()) {
        add_loader(arguments, options.ramdisk, board.ramdisk_address());
    }
    add_loader(arguments, descriptor_path(files.tree),
               board.hypervisor_base() + abi::boot_tree_offset);
    add(arguments, {"-display", "none", "-monitor", "none"});
    add_ending(arguments, files.monitor);
    // Newer QEMUs (10) want each sound device to name its host's side; 7.2 takes the name, too.
    add(arguments, {"-audiodev", "none,id=audio", "-global", "pl041.audiodev=audio"});
    add_serials(arguments, plan, files);
    add_devices(arguments, board, options);
    add_access_log(arguments, files.access_log, plan.refused_accesses);
    arguments.insert(arguments.end(), options.qemu_arguments.begin(), options.qemu_arguments.end());
    return arguments;
}

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
