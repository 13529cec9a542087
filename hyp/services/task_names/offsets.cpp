#include "task_names/offsets.hpp"

#include "abi/chosen.hpp"

#include <initializer_list>

namespace mmioscope {

BootError read_task_offsets(const Tree& tree, TaskOffsets& offsets) {
    const Property names = tree.property(tree.find("/chosen"), abi::chosen::task_names);
    if (!names) return {};
    if (names.size != sizeof offsets) return {"mmioscope,task-names must have two cells", ""};
    offsets = {names.cell(0), names.cell(1)};
    for (const std::uint32_t offset : {offsets.comm, offsets.pid})
        if (offset == 0 || offset % 4 != 0 || offset >= abi::chosen::max_task_offset)
            return {"mmioscope,task-names: offsets must be multiples of 4 from 4 to 16380", ""};
    return {};
}

} // namespace mmioscope
