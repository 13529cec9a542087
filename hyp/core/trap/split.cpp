#include "trap/split.hpp"

#include "trap/translate.hpp"

namespace mmioscope {

bool is_over_border(const Frame& frame, const DeviceAccess& access, unsigned size) {
    const std::uint32_t offset = access.va.value & (page_size - 1);
    // If the page before cannot be read, no access has begun there.
    if (offset == 0) return size > 1 && !is_unmapped(frame, {access.va.value - 1});
    return offset + size > page_size ||
           (access.span != nullptr && access.span->range.end - access.pa.value < size);
}

} // namespace mmioscope
