// Carries out requests (abi/control.hpp), from whichever way they come: from the boot loader before
// the guest runs, by the guest's control page, or over the stream's line.
#pragma once

#include "choice/choice.hpp"
#include "control/early_requests.hpp"
#include "engine/service.hpp"
#include "integrity/integrity.hpp"
#include "moving/moving_pages.hpp"
#include "probes/probes.hpp"
#include "stream/stream.hpp"
#include "watching/watched_memory.hpp"

#include <atomic>
#include <optional>

namespace mmioscope {

/// When a request comes. Before the guest's first instruction no access is in flight, and only this
/// CPU has translations.
enum class When : std::uint8_t { before_first_instruction, guest_runs };

class Control final : public Service, public OwnerOps, public RequestHandler {
public:
    constexpr Control(Integrity& integrity, Choice& choice, Probes& probes, WatchedMemory& watched,
                      MovingPages& moving, Stream& stream)
        : integrity_(integrity), choice_(choice), probes_(probes), watched_(watched),
          moving_(moving), stream_(stream) {}

    BootError configure(Machine& machine, Setup& setup) override;
    bool add_to_tables(Machine& machine) override;
    /// Carries out the boot loader's requests in order, like those that come while the guest runs,
    /// each with its record. If a request is refused, prints one line on `uart` and halts: the
    /// trace would not be what was asked for.
    void before_readers(Cpu& cpu, Console& uart) override;
    BootError start(Machine& machine, const Setup& setup) override;
    /// An access to the control page. There is no memory behind it; this answers loads and stores
    /// of one aligned word that HSR describes.
    Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) override;

    /// Carries `request` out and returns the reply. Returns nothing if other CPUs are in the way,
    /// or must not wait for all of it: ask again. The caller holds no region lock and has no step
    /// armed. `request` may contain anything: what cannot be carried out is refused with a reason,
    /// and changes nothing.
    std::optional<abi::control::Reply> execute(Cpu& cpu, const abi::control::Request& request,
                                               When when = When::guest_runs);

    /// execute() while the guest runs, then a check of the checksums; not after a request that was
    /// refused, nor after a marker, which shows when something happens and must be quick.
    std::optional<abi::control::Reply> serve(Cpu& cpu,
                                             const abi::control::Request& request) override;

    bool tracing_stopped() const { return stopped_; }
    /// What the guest's last words were to slot `n` of the control page.
    const std::uint32_t (&request_words(unsigned n) const)[4] { return slots_[n].request; }

private:
    struct Slot {
        std::uint32_t request[4];
        std::uint32_t reply[4];
    };

    abi::control::Status check_request(const Machine& machine, const abi::control::Request& r,
                                       When when) const;
    void change_selection(Machine& machine, const abi::control::Request& r);
    std::optional<abi::control::Status> change(Cpu& cpu, const abi::control::Request& r);
    void tell(Cpu& cpu, const abi::control::Request& r, abi::control::Reply& reply);
    bool carry_out(Cpu& cpu, const abi::control::Request& r, abi::control::Reply& reply);
    abi::control::Status carry_out_early(Cpu& cpu, const EarlyRequest& request, std::uint16_t id);
    std::uint32_t load_word(unsigned offset);
    Outcome store_word(Cpu& cpu, unsigned offset, std::uint32_t value);

    Integrity& integrity_;
    Choice& choice_;
    Probes& probes_;
    WatchedMemory& watched_;
    MovingPages& moving_;
    Stream& stream_;
    EarlyRequests requests_;
    bool stopped_{};    ///< the selected devices are not traced either
    bool pages_stay_{}; ///< nor do pages move
    std::atomic<std::uint32_t> tickets_{0};
    Slot slots_[abi::control::slots]{}; ///< of the control page; the guest writes them
};

} // namespace mmioscope
