// The trace on a line of its own: takes the records out of all rings, and sends them as frames
// (abi/wire.hpp), a little at each trap and more when the guest idles. No interrupt is owned.
//
// One CPU at a time works on it, whichever traps and finds it free; nobody waits for it but the
// last, who sends what is left.
#pragma once

#include "stream/description.hpp"
#include "stream/frame_sender.hpp"
#include "stream/kept_boot.hpp"
#include "stream/record_frame.hpp"
#include "stream/request_line.hpp"
#include "stream/ring_merge.hpp"
#include "trace/lock.hpp"

#include <atomic>

namespace mmioscope {

class Stream {
public:
    /// The description is complete; from now on records leave through `line`.
    /// `kept`: the previous boot's area, which goes first; or null.
    void start(Line& line, abi::AreaHeader& area, unsigned time_shift,
               const abi::AreaHeader* kept = nullptr);
    DescriptionWriter& description() { return description_; }

    bool active() const { return line_ != nullptr; }

    /// The previous boot's records are still being sent: they are not to be changed.
    bool sends_kept() const { return kept_.busy(); }

    /// Equal reads are counted from now on, as `how` says.
    void fold(abi::Fold how) { frame_.fold(how, time_shift_); }

    /// What comes in on the line is read as requests from now on.
    void accept_requests() { requests_.start(*line_); }
    RequestLine& requests() { return requests_; }

    // Wishes, for any CPU at any time.
    void repeat_hello() { hello_wanted_.store(1, std::memory_order_relaxed); }
    /// What was published so far leaves without waiting for more.
    void flush() { flush_wanted_.store(1, std::memory_order_relaxed); }

    /// At a trap: at most `at_trap` of work. Does nothing if another CPU is at it.
    void work_a_little(std::uint32_t cpu);

    /// The guest of `cpu` idles: at most `at_idle` of work. True: there is nothing left to do, and
    /// the CPU may sleep.
    [[nodiscard]] bool work_at_idle(std::uint32_t cpu);

    /// The machine is about to end: sends all that the rings hold, and that nothing follows. Gives
    /// up when no byte was taken for 100 ms, or another CPU keeps the stream for two seconds. What
    /// the guest does all the same before it ends is sent at once, with another end.
    void finish(std::uint32_t cpu, abi::StreamEnd reason);

private:
    /// A bound of what is done in one go: records encoded, bytes sent.
    struct Work {
        unsigned records;
        unsigned bytes;
    };
    static constexpr Work at_trap{8, 64};
    static constexpr Work at_idle{32, 128};

    /// What became of it.
    struct Done {
        unsigned records;
        unsigned bytes;
    };

    Done work(Work bound);
    unsigned encode(unsigned records);
    void open_frame();
    void close_if_old();
    bool find_frame();
    bool next(abi::Record& record, bool may_look);
    bool hello_is_due() const;
    bool other_frame_is_due() const;
    void begin_hello_piece();
    void begin_reply(const abi::control::Reply& reply);
    void begin_kept_frame();
    void begin_end();
    void send_end();
    void work_behind_end();
    void send_rest();
    abi::FrameHeader header(abi::FrameType type);
    std::uint64_t now() const;

    Line* line_{};
    const abi::AreaHeader* area_{};
    Lock lock_;
    RingMerge merge_;
    RecordFrame frame_;
    FrameSender sender_;
    RequestLine requests_;
    DescriptionWriter description_;
    KeptBoot kept_;
    unsigned time_shift_{};
    abi::StreamEnd reason_{};
    bool ended_{};             ///< the end was sent
    std::uint64_t ended_at_{}; ///< ticks
    std::uint16_t sequence_{};
    std::uint16_t hello_piece_{}; ///< the next one to send
    std::uint64_t next_hello_{};  ///< ticks
    std::atomic<std::uint32_t> hello_wanted_{0};
    std::atomic<std::uint32_t> flush_wanted_{0};
    std::uint64_t opened_{};    ///< ticks: when the frame in work got its first record
    std::size_t closed_size_{}; ///< of the frame that waits for the sender; 0: none
    unsigned building_{};       ///< which of the buffers
    std::uint8_t buffers_[2][abi::max_frame]{}; ///< one is filled while the other is sent
    std::uint8_t reply_frame_[sizeof(abi::control::Reply) + abi::frame_overhead]{};
};

} // namespace mmioscope
