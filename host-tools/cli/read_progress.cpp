#include "cli/read_progress.hpp"

#include <fmt/format.h>

namespace mmioscope::cli {

namespace {

constexpr std::uint64_t worth_telling = 1 << 20; ///< anything smaller is read at once

class Watched : public ByteSource {
public:
    Watched(std::unique_ptr<ByteSource> source, ReadProgress& progress)
        : source_(std::move(source)), progress_(progress) {}

    std::size_t read(void* to, std::size_t size) override {
        return counted(source_->read(to, size));
    }
    std::size_t read_some(void* to, std::size_t size) override {
        return counted(source_->read_some(to, size));
    }
    std::optional<std::uint64_t> size() const override { return source_->size(); }
    void seek(std::uint64_t offset) override { source_->seek(offset); }
    bool grows() const override { return source_->grows(); }
    std::string problem() const override { return source_->problem(); }

private:
    std::size_t counted(std::size_t bytes) {
        progress_.add(bytes);
        return bytes;
    }

    std::unique_ptr<ByteSource> source_;
    ReadProgress& progress_;
};

} // namespace

void ReadProgress::add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ < worth_telling) {
        return;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
    line_.show(time.count(), [this] { return fmt::format("{} KiB read", bytes_ / 1024); });
}

std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source, ReadProgress& progress) {
    return std::make_unique<Watched>(std::move(source), progress);
}

} // namespace mmioscope::cli
