// Watched memory: each load and store of chosen pages of the guest's memory has a record, as those
// of a device have, in their order.
//
// The normal views have nothing at a watched page; those of steps have it as before. So the guest
// itself makes each access, with its own memory type, under the lock of all watched pages. Hyp
// stores only for store-exclusives that are no pair with their load (exclusive_pair.hpp).
//
// A page is given back, with a record that says why, if the guest executes what lies there, if a
// walk for a fetch meets a page table there, or if an instruction's accesses cannot be known.
#pragma once

#include "abi/control.hpp"
#include "engine/service.hpp"
#include "integrity/integrity.hpp"
#include "moving/moving_pages.hpp"

namespace mmioscope {

class WatchedMemory final : public Service, public OwnerOps, public StepOps, public AccessHooks {
public:
    constexpr WatchedMemory(Integrity& integrity, MovingPages& moving)
        : integrity_(integrity), moving_(moving) {}

    BootError configure(Machine& machine, Setup& setup) override;
    bool add_to_tables(Machine& machine) override;
    BootError start(Machine& machine, const Setup& setup) override;

    bool on() const { return on_; }
    /// Carries out a `watch` or `unwatch`, between begin_quiet() and end_quiet(). `done`: it is as
    /// the request wants it; otherwise nothing has changed.
    abi::control::Status change(Machine& machine, const abi::control::Request& r);

    /// Whether accesses become records; those of watched pages trap all the same. With the lock, or
    /// before start().
    void set_traced(bool traced) {
        traced_ = traced;
        if (owner_ != nullptr)
            port::store_shared(owner_->own.tracing, traced ? Span::traced_bit : 0);
    }

    Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) override;
    Outcome fetch(Cpu& cpu, Frame& frame, VirtualAddress va, PhysicalAddress pa,
                  bool by_walk) override;
    Outcome maintain(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
    Outcome refused(Cpu& cpu, Frame& frame, abi::FaultReason why) override;
    bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
    std::optional<Outcome> before(Cpu& cpu, Frame& frame) override;

private:
    using Parts = FixedVector<Range, 32>;

    bool watches(const Range& bytes) const;
    bool take_away(const Range& bytes);
    void settle(Machine& machine, std::span<const Range> changed);
    bool is_watched(const Machine& machine, std::uint64_t page) const;
    bool can_watch(const Machine& machine, std::uint64_t page) const;
    abi::control::Status watch(Machine& machine, Range bytes);
    bool set(Machine& machine, std::uint64_t page, bool watched);
    Outcome give_back(Cpu& cpu, PhysicalAddress pa, abi::control::WatchEnd why);

    Integrity& integrity_;
    MovingPages& moving_;
    Owner* owner_{};
    Parts parts_;     ///< what is watched; changes with all locks held
    Span untraced_{}; ///< of accesses of other bytes of its pages
    bool on_{}, traced_{true};
};

} // namespace mmioscope
