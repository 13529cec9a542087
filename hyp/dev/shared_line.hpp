// A line that the guest's console uses, too (abi/shared_wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"
#include "dev/line.hpp"

namespace mmioscope {

/// One way only: what comes in is the guest's.
class SharedLine : public Line {
public:
    SharedLine() = default;
    explicit SharedLine(Line& line) : line_(&line) {}

    /// One that is refused has to come again.
    bool put(std::uint8_t byte) override {
        // What the console has sent so far ends here: nothing of it is taken for the stream's.
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
    bool sending_{}; ///< a byte has been taken in and not all of it is sent
};

} // namespace mmioscope
