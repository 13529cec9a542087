// The stream: takes the records out of all rings and sends them as frames (abi/wire.hpp), a little
// at each trap and more when the guest idles. Hyp owns no interrupt.
//
// One CPU at a time works on it: one that traps and finds it free. Nobody waits for it, except the
// CPU that ends the machine, which sends what is left.
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
    /// Begins the description of `area`, whose own is complete; more may be added until start().
    DescriptionWriter& describe(const abi::AreaHeader& area, unsigned time_shift) {
        description_.start(area, time_shift);
        return description_;
    }

    /// Starts to send records through `line`, after describe(). `kept`: the previous boot's area,
    /// which is sent first; or null.
    void start(Line& line, abi::AreaHeader& area, unsigned time_shift,
               const abi::AreaHeader* kept = nullptr);

    bool active() const { return line_ != nullptr; }

    /// Whether the previous boot's records are still being sent, and must not change.
    bool sends_kept() const { return kept_.busy(); }

    /// From now on equal reads are counted as `how` says.
    void fold(abi::Fold how) { frame_.fold(how, time_shift_); }

    /// From now on what the line receives is read as requests.
    void accept_requests() { requests_.start(*line_); }
    RequestLine& requests() { return requests_; }

    // These may be called by any CPU at any time.
    void repeat_hello() { hello_wanted_.store(1, std::memory_order_relaxed); }
    /// What was published so far is sent without waiting for more.
    void flush() { flush_wanted_.store(1, std::memory_order_relaxed); }

    /// At a trap: does at most `at_trap` of work; nothing if another CPU is working on the stream.
    void work_a_little(std::uint32_t cpu);

    /// When the guest of `cpu` idles: does at most `at_idle` of work. True: there is nothing left
    /// to do, and the CPU may sleep.
    [[nodiscard]] bool work_at_idle(std::uint32_t cpu);

    /// When the machine is about to end, or the guest halts: sends everything in the rings, and an
    /// `end`; of a halt once the other CPUs have made no access for 100 ms. Gives up if
    /// the line takes no byte for 100 ms, or if another CPU keeps the stream for two seconds. What
    /// the guest still does before the machine ends is sent at once, with another `end`.
    void finish(std::uint32_t cpu, abi::StreamEnd reason);

    /// Behind the end of a machine that goes off or is reset: waits for that, at most a second.
    void wait_for_machine_end() const;

private:
    /// A limit for one call: records encoded, bytes sent.
    struct Work {
        unsigned records;
        unsigned bytes;
    };
    static constexpr Work at_trap{8, 64};
    static constexpr Work at_idle{32, 128};

    /// What one call has done.
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
    void wait_for_accesses(std::uint32_t cpu) const;
    void work_until_silent();
    void send_end();
    void work_behind_end();
    void send_rest();
    abi::FrameHeader header(abi::FrameType type);
    std::uint64_t now() const;

    Line* line_{};
    std::uint32_t frequency_{}; ///< Hz
    std::uint32_t boot_{};      ///< FrameHeader::boot
    Lock lock_;
    RingMerge merge_;
    RecordFrame frame_;
    FrameSender sender_;
    RequestLine requests_;
    DescriptionWriter description_;
    KeptBoot kept_;
    unsigned time_shift_{};
    abi::StreamEnd reason_{};
    bool ended_{};             ///< an `end` was sent, or is being sent
    std::uint64_t ended_at_{}; ///< ticks
    std::atomic<std::uint32_t> goes_off_{0};
    std::uint16_t sequence_{};
    std::uint16_t hello_piece_{};    ///< index of the next piece
    std::uint64_t next_hello_{};     ///< ticks
    std::uint64_t hello_distance_{}; ///< bytes of the stream after which it is due before that
    std::uint64_t since_hello_{};    ///< bytes sent since the last one
    std::atomic<std::uint32_t> hello_wanted_{1};
    std::atomic<std::uint32_t> flush_wanted_{0};
    std::uint64_t opened_{};    ///< ticks: when the open frame got its first record
    std::size_t closed_size_{}; ///< bytes of the closed frame that waits for the sender; 0: none
    unsigned building_{};       ///< index of the buffer that is being filled
    std::uint8_t buffers_[2][abi::max_frame]{}; ///< one is filled while the other is sent
    std::uint8_t reply_frame_[sizeof(abi::control::Reply) + abi::frame_overhead]{};
};

} // namespace mmioscope
