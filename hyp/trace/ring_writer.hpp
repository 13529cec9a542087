// The writing end of one CPU's ring. Only that CPU calls it; layout and order: abi/ring.hpp. Others
// can write there, the guest too if it may: of what is there only the readers' words are taken, and
// checked.
#pragma once

#include "abi/ring.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "trace/choice.hpp"

namespace mmioscope {

class RingWriter {
public:
    /// Takes over the ring at `header`, which is zero but for `boot_number`, for `cpu`, with
    /// `capacity` records, whatever is in them. `host_reader`: waits for one over shared memory.
    void start(abi::RingHeader& header, std::uint32_t cpu, std::uint64_t capacity,
               abi::Policy policy, bool host_reader);

    /// True if `count` more records can be published without losing one.
    bool has_room(std::uint64_t count);

    /// Marks an access as in flight and returns its time. Readers that see no mark may rely
    /// on every later record having a later time, so the mark precedes the clock.
    std::uint64_t begin(std::uint32_t pc, std::uint64_t pa) {
        abi::RingHeader& header = *header_;
        port::store_shared(header.in_flight, abi::InFlight::beginning);
        port::store_shared(header.in_flight_pc, pc);
        port::store_shared(header.in_flight_pa, pa);
        port::complete_all();        // a DMB would not order the mark before the counter is read,
        port::synchronize_context(); // and the counter may be read early (ARM ARM B8.1.2)
        const std::uint64_t time = port::read<reg::CNTPCT>();
        port::store_shared(header.in_flight_time, time);
        port::order_memory();
        port::store_shared(header.in_flight, abi::InFlight::begun);
        return time;
    }

    /// The access in flight is done on the bus when this returns: a load has its value, a store has
    /// arrived. Returns the time.
    std::uint64_t complete() {
        port::complete_system();
        port::synchronize_context(); // the counter may be read early, as in begin()
        return port::read<reg::CNTPCT>();
    }

    /// Publishes `record` (its cpu, cpu_sequence and commit are filled in here). If the ring is
    /// full, the record is lost and counted, or the oldest is overwritten, as the policy says. An
    /// access that is not chosen is counted only; one that a trigger fires at has a record of that
    /// beside it.
    void publish(abi::Record& record);

    // The fast path (entry/fast_path.S) publishes by itself, in the same order, between these two.

    /// Up to the next slot whose number is a multiple of `looks_ahead`. False: without losing one
    /// that is not to be had. In words of FastState.
    [[nodiscard]] bool lend(std::uint32_t& header, std::uint32_t& slot, std::uint32_t& sequence,
                            std::uint32_t& commit, std::uint32_t& head);
    /// How many it has published, if it was lent; `sequence` is that of the next one.
    std::uint32_t take_back(std::uint32_t sequence);
    /// None of what was lent is left.
    bool spent(std::uint32_t sequence) const { return sequence == lent_end_; }
    /// Where the next record will lie.
    const abi::Record& next_slot() const { return slots_[slot_]; }

    /// Publishes a begin record, if it is certain that one of its access follows. `several`: of an
    /// instruction of several accesses.
    void announce(abi::Record& begin, bool several);

    /// The access in flight is over; its records are published.
    void finish() {
        port::order_memory(); // the records first, then the word that says they are all there
        port::store_shared(header_->in_flight, abi::InFlight::none);
    }

    /// begin(), publish() and finish() for what is no access in flight: it happens now.
    void publish_event(abi::Record& record);

    /// The most recent records, newest first: for the panic report. Null past the end.
    const abi::Record* recent(unsigned age) const;

    /// Accesses that `choice` leaves out are counted instead of published.
    void obey(Choice& choice) { choice_ = &choice; }
    /// By any CPU.
    void set_policy(abi::Policy policy) { port::store_shared(policy_, policy); }
    bool stalls() const { return port::load_shared(policy_) == abi::Policy::stall; }
    /// The `n`-th word of the statistics, as another CPU sees it; 0 before start().
    std::uint64_t statistic(unsigned n) const;

    abi::Statistics& statistics() { return header_->statistics; }

private:
    std::uint64_t farthest_behind();
    bool look_ahead();
    void lose();
    Trigger::Verdict choose(const abi::Record& record);
    void put(abi::Record& record);
    void tell_of_trigger(std::uint64_t time);

    /// True if the next record has room, and no loss to be told of before it: the readers' words
    /// are looked at once in `looks_ahead` records.
    bool ready() { return room_ != 0 || look_ahead(); }
    void publish_ready(abi::Record& record);
    void store(const abi::Record& record);

    abi::RingHeader* header_{};
    abi::Record* slots_{};
    std::uint64_t head_{}; ///< position of the next record
    std::uint32_t slot_{}; ///< head_ % capacity, without the division
    std::uint32_t room_{}; ///< records that surely have room; 0 while a loss is to be told of
    std::uint32_t capacity_{};
    std::uint64_t tails_[abi::reader_count]{}; ///< the readers' words, as last believed
    std::uint64_t lost_{};
    std::uint64_t pending_gap_{}; ///< records lost since the last one published
    std::uint32_t sequence_{};
    std::uint32_t boot_number_{};
    std::uint8_t cpu_{};
    abi::Policy policy_{};
    Choice* choice_{};       ///< none: everything
    std::uint32_t passed_{}; ///< the filter, for sampling
    bool lent_{};
    std::uint32_t lent_end_{}; ///< `sequence_` behind the last record that is lent
};

} // namespace mmioscope
