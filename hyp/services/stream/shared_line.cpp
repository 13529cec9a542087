#include "stream/shared_line.hpp"

#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"

namespace mmioscope {

namespace shared_wire = abi::shared_wire;

/// What this CPU has sent must not be overtaken by another one's bytes. A DMB orders only what CPUs
/// see, not what has reached a device (ARM ARM A3.8.3), so this takes a DSB.
void SharedLine::give_back() {
    port::complete_system();
    lock_.release();
}

bool SharedLine::put(std::uint8_t byte) {
    std::uint64_t spins = 0;
    if (!lock_.try_acquire(streams, 0, spins)) return false;
    const bool sent = send(byte);
    give_back();
    return sent;
}

bool SharedLine::send(std::uint8_t byte) {
    // Ends what the console has sent before, so that nothing of it is taken as the stream's.
    if (!begun_ && !line_->put(shared_wire::delimiter)) return false;
    begun_ = true;
    if (!sending_) packer_.add(byte);
    while (packer_.any()) {
        sending_ = true;
        if (!line_->put(packer_.next())) return false;
        packer_.taken();
    }
    sending_ = false;
    return true;
}

/// False: the line has not become free.
bool SharedLine::send_alone(std::uint8_t byte) {
    constexpr unsigned enough = 1000; // time alone may pass while this CPU is stopped
    const std::uint64_t begun = port::read<reg::CNTPCT>();
    for (unsigned tries = 0; !line_->put_alone(byte); ++tries) {
        if (tries >= enough && port::read<reg::CNTPCT>() - begun >= patience_) return false;
        port::relax();
    }
    return true;
}

void SharedLine::begin_store(std::uint32_t cpu, std::uint8_t byte) {
    constexpr unsigned turns = 1000;
    // The other CPU sends one byte. But an emulator's host may stop it for a while.
    const std::uint64_t patience = 20 * patience_;
    const std::uint64_t begun = port::read<reg::CNTPCT>();
    std::uint64_t spins = 0;
    while (!lock_.try_acquire(cpu, turns, spins))
        if (port::read<reg::CNTPCT>() - begun >= patience) return;
    mark_ = shared_wire::mark_of(byte);
    if (!send_alone(mark_)) give_back();
}

void SharedLine::end_store(std::uint32_t cpu, bool sent) {
    if (lock_.owner() != cpu) return;
    if (!sent) (void)send_alone(shared_wire::withdrawal_of(mark_));
    give_back();
}

} // namespace mmioscope
