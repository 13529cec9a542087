#include "run/trace_source.hpp"

#include "abi/layout.hpp"
#include "system/error.hpp"
#include "tree/device_tree.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

// A page that the disk has no room for would end both programs by SIGBUS. A file system that cannot
// reserve room is asked how much it has. The file had `before` bytes.
void reserve(int fd, std::uint64_t before, std::uint64_t size, const std::string& path) {
    int error = ::fallocate(fd, 0, 0, static_cast<off_t>(size)) == 0 ? 0 : errno;
    struct stat status {};
    struct statvfs disk {};
    if ((error == EOPNOTSUPP || error == ENOSYS) && ::fstat(fd, &status) == 0 &&
        ::fstatvfs(fd, &disk) == 0) {
        constexpr std::uint64_t block = 512; // of st_blocks
        const std::uint64_t has = static_cast<std::uint64_t>(status.st_blocks) * block;
        const std::uint64_t room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
        error = has + room >= size ? 0 : ENOSPC;
    }
    if (error != 0) {
        (void)!::ftruncate(fd, static_cast<off_t>(before));
        throw bad_input("--ram {}: the RAM has {} bytes: {}", path, size, std::strerror(error));
    }
}

void set_size(int fd, std::uint64_t size, const std::string& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_size != 0 && static_cast<std::uint64_t>(status.st_size) != size)) {
        throw bad_input("--ram {}: the file must be empty or have {} bytes, like the RAM", path,
                        size);
    }
    if (::ftruncate(fd, static_cast<off_t>(size)) != 0) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
    reserve(fd, static_cast<std::uint64_t>(status.st_size), size, path);
}

FileDescriptor ram_file(const std::string& path, std::uint64_t size) {
    if (path.empty()) {
        return memory_file("guest-ram", size);
    }
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    FileDescriptor file = open_output(path);
    ::fcntl(file.get(), F_SETFD, 0); // QEMU inherits it
    try {
        set_size(file.get(), size, path);
    } catch (const Error&) {
        if (is_new) {
            ::unlink(path.c_str());
        }
        throw;
    }
    return file;
}

} // namespace

GuestMemory::GuestMemory(const Board& board, std::uint64_t size, const std::string& path)
    : base_(board.ram_base), size_(size), file_(ram_file(path, size)) {
    void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (bytes == MAP_FAILED) {
        throw failure("cannot map {} bytes of guest memory: {}", size, std::strerror(errno));
    }
    bytes_ = static_cast<std::byte*>(bytes);
}

GuestMemory::~GuestMemory() {
    ::munmap(bytes_, size_);
}

std::span<std::byte> GuestMemory::at(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t offset = address - base_;
    if (address < base_ || offset > size_ || size > size_ - offset) {
        return {};
    }
    return {bytes_ + offset, size};
}

namespace {

// What is checked, summed up and written is of one read: the guest may write it meanwhile.
std::vector<std::byte> copy_of(std::span<const std::byte> shared) {
    return {shared.begin(), shared.end()};
}

} // namespace

MemorySource::MemorySource(const Plan& plan, const GuestMemory& memory)
    : plan_(plan), memory_(memory),
      bytes_(memory.at(plan.board.hypervisor_base() + abi::area_offset, plan.options.area_size)),
      before_(rings::Area::boot_in(bytes_)) {}

bool MemorySource::ready() {
    const std::optional<rings::BootId> boot = rings::Area::boot_in(bytes_);
    return boot && boot != before_;
}

// The tree that the guest was given, from its memory; ours if it is overwritten already.
void MemorySource::begin(trace::FileWriter& file, const trace::About& about) {
    area_.emplace(bytes_);
    const abi::Info info = area_->info();
    file.values(abi::SectionType::info, std::span(&info, 1));
    const std::vector<std::byte> tree =
        copy_of(memory_.at(area_->header().tree_base, area_->header().tree_size));
    file.section(abi::SectionType::device_tree, tree::tree_is_sound(tree) ? tree : plan_.tree);
    file.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area_->regions()));
    if (const abi::AreaHeader& header = area_->header();
        header.kept == abi::Kept::kept && header.kept_offset <= bytes_.size() &&
        header.kept_size <= bytes_.size() - header.kept_offset) {
        file.section(abi::SectionType::previous_boot,
                     copy_of(bytes_.subspan(header.kept_offset, header.kept_size)));
    }
    trace::write_about(file, about);
    onlooker_.emplace(linux_guest::PhysicalMemory(memory_.bytes(), memory_.base()),
                      area_->header().counter_frequency, plan_.names.functions,
                      !plan_.options.stacks.empty());
    recorder_.emplace(*area_, file, &*onlooker_);
}

std::unique_ptr<TraceSource> MemorySource::next_boot() const {
    return std::make_unique<MemorySource>(plan_, memory_);
}

TraceResult MemorySource::result(std::string_view) const {
    return {recorder_->summary(),
            recorder_->losses(),
            area_->regions(),
            area_->statistics(),
            area_->header().counter_frequency,
            area_->header().engine,
            area_->header().policy,
            recorder_->doubts()};
}

namespace {

constexpr std::size_t piece = 64 * 1024;

} // namespace

std::span<const std::byte> StreamSource::read_more() {
    buffer_.resize(piece);
    const ssize_t size = ::pread(fd_, buffer_.data(), piece, static_cast<off_t>(read_));
    if (size < 0) {
        throw failure("cannot read the stream: {}", std::strerror(errno));
    }
    read_ += static_cast<std::uint64_t>(size);
    return std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(size));
}

bool StreamSource::ready() {
    const std::span<const std::byte> more = read_more();
    first_.insert(first_.end(), more.begin(), more.end());
    if (more.empty()) {
        return false;
    }
    head_decoder_.feed(more);
    return head_.found;
}

void StreamSource::begin(trace::FileWriter& file, const trace::About& about) {
    recorder_.emplace(file, about);
    recorder_->feed(first_);
    first_.clear();
}

std::size_t StreamSource::pass() {
    const std::span<const std::byte> more = read_more();
    recorder_->feed(more);
    return more.size();
}

void StreamSource::finish(abi::Ending ending) {
    while (pass() > 0) {
    }
    recorder_->finish(ending);
}

std::unique_ptr<TraceSource> StreamSource::next_boot() const {
    return std::make_unique<StreamSource>(fd_, read_);
}

TraceResult StreamSource::result(std::string_view console) const {
    const wire::StreamHead& head = *recorder_->head();
    const std::span<const abi::Statistics> statistics = recorder_->statistics();
    return {recorder_->summary(),
            recorder_->losses(),
            head.regions,
            {statistics.begin(), statistics.end()},
            head.info.counter_frequency,
            head.info.engine,
            head.info.policy,
            recorder_->doubts(console),
            read_ - from_};
}

} // namespace mmioscope::run
