// The writing end of one CPU's ring. Only that CPU calls it. abi/ring.hpp has layout and order.
// Others can write to the ring, too, perhaps the guest. So the writer reads only the readers' words
// from it, and checks them.
#pragma once

#include "abi/ring.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "trace/chooser.hpp"
#include "trace/payload.hpp"

namespace mmioscope {

class RingWriter {
public:
    /// Starts the ring of `cpu` at `header`, which is zero except for `boot_number`. It has
    /// `capacity` slots, which may contain anything. `host_reader`: wait for a reader over shared
    /// memory.
    void start(abi::RingHeader& header, std::uint32_t cpu, std::uint64_t capacity,
               abi::Policy policy, bool host_reader);

    /// Whether `count` more records can be published without losing one.
    bool has_room(std::uint64_t count);

    /// Marks an access as in flight and returns its time. Readers that see no mark rely on every
    /// later record having a later time, so the mark precedes reading the clock. The rest comes
    /// behind the barrier, too: nobody sees it with the mark of the access before.
    std::uint64_t begin(std::uint32_t pc, std::uint64_t pa) {
        port::store_shared(header_->in_flight, abi::InFlight::beginning);
        port::complete_all();        // a DMB would not order the mark before the counter,
        port::synchronize_context(); // which may be read early (ARM ARM B8.1.2)
        const std::uint64_t time = port::read<reg::CNTPCT>();
        begun(time, pc, pa);
        return time;
    }
    /// The access in flight has begun at `time`. Also called if the slow path goes on with an
    /// access of the fast path, whose mark refers to the slot: that may get another record first.
    void begun(std::uint64_t time, std::uint32_t pc, std::uint64_t pa) {
        abi::RingHeader& header = *header_;
        port::store_shared(header.in_flight_time, time);
        port::store_shared(header.in_flight_pc, pc);
        port::store_shared(header.in_flight_pa, pa);
        port::order_memory();
        port::store_shared(header.in_flight, abi::InFlight::in_header);
    }

    /// Waits until the access in flight is done on the bus: a load has its value, a store has
    /// arrived. Returns the time.
    std::uint64_t complete() {
        port::complete_system();
        port::synchronize_context(); // the counter may be read early, as in begin()
        return port::read<reg::CNTPCT>();
    }

    /// Publishes `record`, after setting its cpu, cpu_sequence and commit. If the ring is full, the
    /// policy decides: the record is lost and counted, or it overwrites the oldest one. An access
    /// that the chooser leaves out is only counted. Its notice() may be published beside it.
    void publish(abi::Record& record);
    /// Likewise; `payload` goes behind it, and shares its fate.
    void publish(abi::Record& record, const Payload& payload) {
        if (payload.size == 0) [[likely]]
            publish(record);
        else publish_group(record, payload);
    }

    // Between reserve() and release() the fast path (entry/fast_path.S) publishes by itself, in the
    // same order.

    /// Reserves the slots up to the next multiple of `reserve_batch` for the fast path, in words of
    /// FastState. False: the ring has no room for that many.
    [[nodiscard]] bool reserve(std::uint32_t& header, std::uint32_t& slot, std::uint32_t& sequence,
                               std::uint32_t& commit, std::uint32_t& head);
    /// After release() of all that were reserved: reserves as many again. `slot` points behind the
    /// last one.
    [[nodiscard]] bool reserve_more(std::uint32_t& slot);
    /// Ends that. Returns how many records the fast path has published; `sequence` is the
    /// next one's.
    std::uint32_t release(std::uint32_t sequence);
    /// Whether all reserved slots are used.
    bool spent(std::uint32_t sequence) const { return sequence == reserved_end_; }
    /// The slot of the next record.
    const abi::Record& next_slot() const { return slots_[slot_]; }

    /// Publishes a begin record, if it is certain that its access's record will follow. `several`:
    /// the instruction makes several accesses.
    void announce(abi::Record& begin, bool several);

    /// Ends the access in flight, after its records were published.
    void finish() {
        port::order_memory(); // the records before the mark that they are complete
        port::store_shared(header_->in_flight, abi::InFlight::none);
    }

    /// begin(), publish() and finish() for an event that is no access: it happens now.
    void publish_event(abi::Record& record);

    /// The most recent records, for the panic report; `age` 0 is the newest. Null: there is none
    /// that old.
    const abi::Record* recent(unsigned age) const;

    /// From now on `chooser` decides which accesses are published; the others are counted. Null:
    /// all are published.
    void obey(Chooser* chooser) { chooser_ = chooser; }
    /// May be called by any CPU.
    void set_policy(abi::Policy policy) { port::store_shared(policy_, policy); }
    bool stalls() const { return port::load_shared(policy_) == abi::Policy::stall; }
    /// The number of records that it has published; for another CPU to ask.
    std::uint64_t published() const { return port::load_shared(head_); }
    /// Word `n` of the statistics, for another CPU to read; 0 before start().
    std::uint64_t statistic(unsigned n) const;

    abi::Statistics& statistics() { return header_->statistics; }

private:
    std::uint32_t farthest_behind();
    bool update_room();
    bool may_reserve(std::uint32_t count);
    void lose(const abi::Record& record, std::uint32_t pieces);
    void number(const abi::Record& record, std::uint32_t pieces = 0);
    Chooser::Verdict choose(const abi::Record& record);
    void put(abi::Record& record, Payload payload);
    void append(abi::Record& record);
    void append_group(abi::Record& record, Payload payload);
    void publish_group(abi::Record& record, Payload payload);
    void publish_chosen(abi::Record& record, Payload payload);
    void publish_notice(std::uint64_t time);

    /// Whether the next record has room and no loss must be reported before it. Reads the readers'
    /// words only once in `reserve_batch` records.
    bool ready() { return room_ != 0 || update_room(); }
    void publish_gap(std::uint64_t time);
    void store(const abi::Record& record);
    void fill(abi::Record& slot, const abi::Record& record, std::uint64_t position);
    void count_half_turn();

    abi::RingHeader* header_{};
    abi::Record* slots_{};
    std::uint64_t head_{}; ///< position of the next record
    std::uint32_t slot_{}; ///< head_ % capacity, without the division
    std::uint32_t room_{}; ///< records that certainly have room; 0 while a loss must be reported
    std::uint32_t capacity_{};
    std::uint32_t tails_[abi::reader_count]{}; ///< the readers' positions (lower words), the last
                                               ///< sensible ones
    std::uint64_t lost_{};
    std::uint64_t pending_gap_{}; ///< records lost since the last one that was published
    std::uint32_t sequence_{};
    std::uint32_t others_{}; ///< numbered records that are no accesses
    std::uint32_t boot_number_{};
    std::uint8_t cpu_{};
    abi::Policy policy_{};
    Chooser* chooser_{};
    std::uint32_t passed_{}; ///< the chooser counts in it
    bool reserved_{};
    std::uint32_t reserved_end_{}; ///< cpu_sequence after the last reserved slot
};

} // namespace mmioscope
