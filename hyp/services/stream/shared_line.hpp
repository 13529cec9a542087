// A line that the guest's console uses as well (abi/shared_wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"
#include "stream/line.hpp"

namespace mmioscope {

/// It only sends: received bytes belong to the guest.
class SharedLine : public Line {
public:
    SharedLine() = default;
    explicit SharedLine(Line& line) : line_(&line) {}

    /// A byte that is refused must be given again.
    bool put(std::uint8_t byte) override {
        // Ends what the console has sent before, so that nothing of it is taken as the stream's.
        if (!begun_ && !line_->put(abi::shared_wire::delimiter)) return false;
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

private:
    Line* line_{};
    abi::shared_wire::Packer packer_;
    bool begun_{};
    bool sending_{}; ///< a byte was accepted, but not all of it is sent
};

} // namespace mmioscope
