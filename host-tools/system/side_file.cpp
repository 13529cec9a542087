#include "system/side_file.hpp"

#include "system/file_descriptor.hpp"
#include "system/message.hpp"

namespace mmioscope {

void SideFile::append(std::span<const std::byte> bytes) {
    if (!whole_) {
        return;
    }
    try {
        mmioscope::append(fd_, bytes, name_.c_str());
    } catch (const Error& error) {
        whole_ = false;
        print_message("mmioscope: {}; the recording goes on without it\n", error.what());
    }
}

} // namespace mmioscope
