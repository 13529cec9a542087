#include "untraced.hpp"

#include "system/error.hpp"

namespace mmioscope::guest {

Untraced::Untraced(const Announced& announced, const std::vector<std::uint16_t>& regions) {
    for (const std::uint16_t region : regions) {
        if (announced.control && !page_) {
            page_.emplace(*announced.control);
        }
        if (page_ && done(abi::control::Command::deselect, region)) {
            deselected_.push_back(region);
        } else {
            left_out_.push_back(region);
        }
    }
}

Untraced::~Untraced() {
    for (const std::uint16_t region : deselected_) {
        try {
            done(abi::control::Command::select, region);
        } catch (const Error&) { // the hypervisor no longer answers
        }
    }
}

bool Untraced::done(abi::control::Command command, std::uint16_t region) {
    return page_->ask(command, region).status == abi::control::Status::done;
}

} // namespace mmioscope::guest
