#include "run/run_files.hpp"

#include "run/closing.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/part_path.hpp"
#include "system/replaced_file.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

FileDescriptor named_or_memory(const std::string& path, const char* label) {
    return path.empty() ? memory_file(label, 0) : create_output(path);
}

FileDescriptor stream_file(const Options& options) {
    if (options.stream.empty()) {
        return {};
    }
    return options.stream_file.empty() ? temporary_file() : create_output(options.stream_file);
}

void write_all(int fd, const Bytes& bytes) {
    if (::pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw failure("cannot write to memory: {}", std::strerror(errno));
    }
}

// QEMU does not say that its disk was full. If not, errno is why.
bool can_grow(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return true;
    }
    const char byte = 0;
    return ::pwrite(fd, &byte, 1, status.st_size) == 1 && ::ftruncate(fd, status.st_size) == 0;
}

} // namespace

// If nobody reads the trace back, it is only counted.
FileDescriptor trace_file(const Options& options, unsigned boot) {
    if (!options.output.empty()) {
        return create_output(part_path(options.output, boot));
    }
    return prints(options) ? temporary_file() : create_output("/dev/null");
}

RunFiles::RunFiles(const Plan& plan)
    : tree(memory_file("device-tree", 0)),
      boot_image(plan.boot_image.empty() ? FileDescriptor() : memory_file("boot-image", 0)),
      trace(trace_file(plan.options, 1)),
      console_log(named_or_memory(plan.options.console_log, "console")),
      hypervisor_log(named_or_memory(plan.options.hypervisor_log, "hypervisor")),
      stream(stream_file(plan.options)),
      unshared(plan.options.stream_shared ? temporary_file() : FileDescriptor()),
      access_log(plan.options.access_log.empty() ? FileDescriptor()
                                                 : create_output(plan.options.access_log)),
      messages(memory_file("messages", 0)) {
    write_all(tree.get(), plan.tree);
    if (boot_image) {
        write_all(boot_image.get(), plan.boot_image);
    }
    inherit_all();
}

QemuFiles RunFiles::for_qemu(int ram, int monitor) const {
    return {ram,
            tree.get(),
            boot_image ? boot_image.get() : -1,
            console_log.get(),
            hypervisor_log.get(),
            stream ? stream.get() : -1,
            access_log ? access_log.get() : -1,
            monitor};
}

bool RunFiles::whole(const Options& options) const {
    bool all = true;
    const auto check = [&all](const FileDescriptor& file, const std::string& path) {
        if (file && !can_grow(file.get())) {
            all = false;
            print_message("mmioscope: cannot write {}: {}; its end may be missing\n",
                          path.empty() ? "a temporary file" : for_terminal(path),
                          std::strerror(errno));
        }
    };
    check(console_log, options.console_log);
    check(hypervisor_log, options.hypervisor_log);
    check(stream, options.stream_file);
    check(access_log, options.access_log);
    return all;
}

// QEMU opens them again by descriptor, so no name has to be passed on or quoted.
void RunFiles::inherit_all() const {
    for (const FileDescriptor* file : {&console_log, &hypervisor_log, &stream, &access_log}) {
        if (*file) {
            ::fcntl(file->get(), F_SETFD, 0);
        }
    }
}

namespace {

std::uint64_t size_of(int fd) {
    struct stat status {};
    ::fstat(fd, &status);
    return static_cast<std::uint64_t>(status.st_size);
}

void copy(int from, std::uint64_t begin, std::uint64_t end, const std::string& path) {
    ReplacedFile to(path);
    for (auto at = static_cast<off_t>(begin); at < static_cast<off_t>(end);) {
        const auto rest = static_cast<std::size_t>(static_cast<off_t>(end) - at);
        if (::sendfile(to.fd(), from, &at, rest) <= 0) {
            throw failure("cannot write {}: {}", path, std::strerror(errno));
        }
    }
    to.commit();
}

} // namespace

void AccessLogs::end_boot() {
    if (fd_ >= 0) {
        ends_.push_back(size_of(fd_));
    }
}

void AccessLogs::split() const {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        const std::uint64_t end = i + 1 < ends_.size() ? ends_[i + 1] : size_of(fd_);
        copy(fd_, ends_[i], end, part_path(path_, static_cast<unsigned>(i) + 2));
    }
    if (!ends_.empty() && ::ftruncate(fd_, static_cast<off_t>(ends_[0])) != 0) {
        throw failure("cannot shorten {}: {}", path_, std::strerror(errno));
    }
}

} // namespace mmioscope::run
