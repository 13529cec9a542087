#include "run/hypervisor_image.hpp"

#include "system/error.hpp"

namespace mmioscope::run {

namespace fs = std::filesystem;

fs::path find_hypervisor(const fs::path& folder, std::uint64_t base) {
    const std::string name = fmt::format("hyp-{:08x}.elf", base);
    const fs::path installed = folder.parent_path() / "lib/mmioscope";
    for (const fs::path& place : {folder, installed}) {
        std::error_code ignored;
        if (fs::exists(place / name, ignored)) {
            return place / name;
        }
    }
    throw bad_input("there is no {} in {} or {}: `make build/{}` makes it in the project's folder; "
                    "or give --hypervisor FILE",
                    name, folder.string(), installed.string(), name);
}

fs::path folder_of_this_program() {
    return fs::read_symlink("/proc/self/exe").parent_path();
}

} // namespace mmioscope::run
