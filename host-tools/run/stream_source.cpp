#include "run/trace_source.hpp"
#include "system/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

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
