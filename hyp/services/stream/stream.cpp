#include "stream/stream.hpp"

#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope {

namespace {

/// `milliseconds` in ticks.
constexpr std::uint64_t part(std::uint64_t frequency, unsigned milliseconds) {
    return frequency * milliseconds / 1000;
}
/// Ms a record waits for others in a frame; the listener's latency.
constexpr unsigned longest_in_frame = 1000;
/// Ms, and tries, without a byte taken by the line, at the end. Time alone may pass while firmware
/// or an emulator's host stops this CPU.
constexpr unsigned patience = 100;
constexpr unsigned enough_tries = 1000;
constexpr unsigned silence = 100;        ///< ms without a record: the guest's CPUs have stopped
constexpr unsigned longest_access = 5;   ///< ms that another CPU's access may still take
constexpr unsigned lock_patience = 2000; ///< ms to wait for another CPU, whose work is bounded
constexpr unsigned still_ending = 1000; ///< ms after which a machine that should have ended goes on
constexpr unsigned few_turns = 8;       ///< a STREX may fail spuriously

/// The next byte may be another CPU's, and must not overtake this CPU's last one. A DMB orders only
/// what CPUs see, not what has reached a device (ARM ARM A3.8.3), so this takes a DSB.
void give_back(Lock& lock) {
    port::complete_system();
    lock.release();
}

} // namespace

void Stream::start(Line& line, abi::AreaHeader& area, unsigned time_shift,
                   const abi::AreaHeader* kept) {
    frequency_ = area.counter_frequency;
    std::memcpy(&boot_, area.boot_id, sizeof boot_);
    time_shift_ = time_shift;
    description_.pack();
    hello_distance_ = abi::hello_share * description_.size();
    merge_.start(area);
    if (kept != nullptr) kept_.start(*kept, time_shift);
    (void)line.put(0);       // ends whatever was on the line before
    port::complete_system(); // the next byte may be another CPU's: see give_back()
    line_ = &line;
}

void Stream::work_a_little(std::uint32_t cpu) {
    std::uint64_t spins = 0;
    if (!lock_.try_acquire(cpu, 0, spins)) return;
    if (active()) {
        work_behind_end();
        close_if_old();
        work(at_trap);
    }
    give_back(lock_);
}

bool Stream::work_at_idle(std::uint32_t cpu) {
    std::uint64_t spins = 0;
    if (!lock_.try_acquire(cpu, few_turns, spins)) return true; // the owner does the work
    bool done = true;
    if (active()) {
        work_behind_end();
        close_if_old();
        const Done made = work(at_idle);
        done = made.records == 0 && made.bytes == 0;
    }
    give_back(lock_);
    return done;
}

Stream::Done Stream::work(Work bound) {
    Done done{0, 0};
    while (done.bytes < bound.bytes && (!sender_.done() || find_frame())) {
        const unsigned sent = sender_.pump(*line_, bound.bytes - done.bytes);
        if (sent == 0) break;
        done.bytes += sent;
    }
    since_hello_ += done.bytes;
    done.records = encode(bound.records);
    return done;
}

/// Gives the next frame to the sender, if there is one.
bool Stream::find_frame() {
    if (closed_size_ != 0) {
        sender_.start(buffers_[building_], closed_size_);
        closed_size_ = 0;
        building_ ^= 1;
        return true;
    }
    if (abi::control::Reply reply; requests_.take_reply(reply)) {
        begin_reply(reply);
        return true;
    }
    if (frame_.is_open() || !other_frame_is_due()) return false;
    if (hello_is_due()) begin_hello_piece();
    else begin_kept_frame();
    return true;
}

unsigned Stream::encode(unsigned records) {
    unsigned count = 0;
    abi::Record record;
    while (count < records && closed_size_ == 0) {
        // Other frames go between frames of records, in the buffer that the next one would use.
        if (!frame_.is_open() && other_frame_is_due()) break;
        if (!next(record, count == 0)) break; // reads the rings only once
        if (!frame_.is_open()) open_frame();
        ++count;
        if (!frame_.add(record)) closed_size_ = frame_.close();
    }
    return count;
}

/// The previous boot's records come first; no frame contains records of both.
bool Stream::next(abi::Record& record, bool may_look) {
    if (!kept_.has_records()) return merge_.next(record, may_look);
    if (kept_.next(record)) return true;
    if (!kept_.has_records() && frame_.is_open()) closed_size_ = frame_.close();
    return false;
}

void Stream::open_frame() {
    const auto type = kept_.busy() ? abi::FrameType::previous_records : abi::FrameType::records;
    frame_.open(buffers_[building_], header(type), time_shift_);
    opened_ = now();
}

void Stream::close_if_old() {
    const std::uint64_t old = part(frequency_, longest_in_frame);
    if (!frame_.is_open()) return;
    const bool wanted = flush_wanted_.load(std::memory_order_relaxed) != 0 && merge_.empty();
    if (wanted) flush_wanted_.store(0, std::memory_order_relaxed);
    if (wanted || now() - opened_ >= old) closed_size_ = frame_.close();
}

bool Stream::hello_is_due() const {
    return hello_wanted_.load(std::memory_order_relaxed) != 0 ||
           (!ended_ && (since_hello_ >= hello_distance_ || now() >= next_hello_));
}

bool Stream::other_frame_is_due() const {
    return hello_is_due() || kept_.has_frame();
}

void Stream::begin_hello_piece() {
    const abi::FrameHeader head = header(abi::FrameType::hello);
    std::uint8_t* to = buffers_[building_];
    std::memcpy(to, &head, sizeof head);
    sender_.start(to, sizeof head + description_.write_piece(hello_piece_, to + sizeof head));
    building_ ^= 1;
    if (++hello_piece_ < description_.pieces()) return;
    hello_piece_ = 0;
    hello_wanted_.store(0, std::memory_order_relaxed);
    if (since_hello_ >= hello_distance_) hello_distance_ *= 2;
    since_hello_ = 0;
    next_hello_ = now() + abi::hello_interval * std::uint64_t{frequency_};
}

void Stream::begin_reply(const abi::control::Reply& reply) {
    const abi::FrameHeader head = header(abi::FrameType::reply);
    std::memcpy(reply_frame_, &head, sizeof head);
    std::memcpy(reply_frame_ + sizeof head, &reply, sizeof reply);
    sender_.start(reply_frame_, sizeof head + sizeof reply);
}

void Stream::begin_kept_frame() {
    const abi::FrameHeader head = header(kept_.type());
    std::uint8_t* to = buffers_[building_];
    std::memcpy(to, &head, sizeof head);
    sender_.start(to, sizeof head + kept_.write_frame(to + sizeof head));
    building_ ^= 1;
}

void Stream::begin_end() {
    const abi::FrameHeader head = header(abi::FrameType::end);
    const unsigned cpus = merge_.cpus();
    abi::EndHeader end{reason_, cpus, {}};
    for (unsigned cpu = 0; cpu < cpus; ++cpu) end.next_sequence[cpu] = merge_.next_sequence(cpu);
    std::uint8_t* to = buffers_[building_];
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + sizeof head, &end, sizeof end);
    to += sizeof head + sizeof end;
    for (unsigned cpu = 0; cpu < cpus; ++cpu, to += sizeof(abi::Statistics))
        std::memcpy(to, &merge_.header(cpu).statistics, sizeof(abi::Statistics));
    for (unsigned cpu = 0; cpu < cpus; ++cpu, to += sizeof(std::uint32_t)) {
        const std::uint32_t others = merge_.others(cpu);
        std::memcpy(to, &others, sizeof others);
    }
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
        if (const auto access = merge_.unfinished(cpu)) {
            std::memcpy(to, &*access, sizeof *access);
            to += sizeof *access;
        }
    sender_.start(buffers_[building_], static_cast<std::size_t>(to - buffers_[building_]));
    building_ ^= 1;
}

void Stream::finish(std::uint32_t cpu, abi::StreamEnd reason) {
    if (!active()) return;
    const std::uint64_t give_up = now() + part(frequency_, lock_patience);
    std::uint64_t spins = 0;
    while (!lock_.try_acquire(cpu, 1000, spins))
        if (now() >= give_up || lock_.owner() == cpu) return;
    reason_ = reason;
    if (reason == abi::StreamEnd::panicked) wait_for_accesses(cpu);
    if (reason == abi::StreamEnd::halted) work_until_silent();
    send_end();
    give_back(lock_);
}

/// After a panic nobody sends what another CPU publishes late. A CPU in an access publishes it
/// before it stops, unless the access does not end.
void Stream::wait_for_accesses(std::uint32_t cpu) const {
    const std::uint64_t give_up = now() + part(frequency_, longest_access);
    while (merge_.others_in_access(cpu) && now() < give_up) port::relax();
}

/// The other CPUs take the interrupt that stops them while this one waits. Once they have, and this
/// one has nothing to say either, nobody comes back to Hyp to send the rest.
void Stream::work_until_silent() {
    const std::uint64_t begun = now();
    std::uint64_t last = begun;
    merge_.reopen();
    while (now() - last < part(frequency_, silence) &&
           now() - begun < part(frequency_, lock_patience)) {
        if (work(at_idle).records > 0) last = now();
        port::relax();
    }
}

void Stream::send_end() {
    const bool again = std::exchange(ended_, true); // no description is due while this takes long
    merge_.close();
    send_rest();
    if (!again) {
        repeat_hello(); // behind the records, for a listener who has missed it
        send_rest();
    }
    // Not over a frame of records that there was no time to send: they share a buffer.
    if (sender_.done()) begin_end();
    send_rest();
    ended_at_ = now();
    const bool off =
        reason_ == abi::StreamEnd::machine_off || reason_ == abi::StreamEnd::machine_reset;
    goes_off_.store(off ? 1 : 0, std::memory_order_release);
}

/// An emulator takes a while to end its machine, and what this CPU did meanwhile might be sent in
/// part.
void Stream::wait_for_machine_end() const {
    const std::uint64_t limit = part(frequency_, still_ending);
    while (goes_off_.load(std::memory_order_acquire) != 0 && now() - ended_at_ < limit)
        port::relax();
}

/// The machine was to end, or the guest to halt, but still runs: sends what it does at once, until
/// it is clear that it goes on.
void Stream::work_behind_end() {
    if (!ended_) return;
    if (now() - ended_at_ < part(frequency_, still_ending)) {
        merge_.close();
        if (!merge_.empty()) send_end();
    } else {
        merge_.reopen();
        ended_ = false;
        goes_off_.store(0, std::memory_order_relaxed);
    }
}

/// Works until everything is sent, or the line takes no byte for a while.
void Stream::send_rest() {
    const std::uint64_t limit = part(frequency_, patience);
    std::uint64_t last = now();
    unsigned tries = 0;
    while (tries < enough_tries || now() - last < limit) {
        const Done done = work(at_idle);
        ++tries;
        if (done.bytes > 0) {
            last = now();
            tries = 0;
        }
        if (done.records > 0) continue;
        if (frame_.is_open() && merge_.empty()) closed_size_ = frame_.close();
        if (sender_.done() && closed_size_ == 0 && merge_.empty() && !hello_is_due() &&
            !kept_.busy())
            return;
        port::relax();
    }
}

abi::FrameHeader Stream::header(abi::FrameType type) {
    return {type, abi::wire_version, sequence_++, boot_};
}

/// Without the ISB the counter may be read early, and time would go back (ARM ARM B8.1.2).
std::uint64_t Stream::now() const {
    port::synchronize_context();
    return port::read<reg::CNTPCT>();
}

} // namespace mmioscope
