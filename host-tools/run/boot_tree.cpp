#include "run/boot_tree.hpp"

#include "abi/chosen.hpp"
#include "run/early_requests.hpp"
#include "run/process.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <libfdt.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace mmioscope::run {

namespace {

namespace chosen = abi::chosen;

/// Room for all additions but the cells of probes; far more than needed.
constexpr std::size_t added = 0x4000;

// Writes one tree; each step throws if libfdt refuses.
class Editor {
public:
    Editor(const Bytes& tree, std::size_t cells) : tree_(tree.size() + added + 4 * cells) {
        check(fdt_open_into(tree.data(), tree_.data(), static_cast<int>(tree_.size())));
        address_cells_ = check(fdt_address_cells(tree_.data(), 0));
        size_cells_ = check(fdt_size_cells(tree_.data(), 0));
    }

    int child(int parent, const std::string& name) {
        const int node = fdt_subnode_offset(tree_.data(), parent, name.c_str());
        return node >= 0 ? node : check(fdt_add_subnode(tree_.data(), parent, name.c_str()));
    }

    int memory_node(std::uint64_t base) {
        constexpr char type[] = "memory";
        const int node = fdt_node_offset_by_prop_value(tree_.data(), -1, "device_type", type,
                                                       static_cast<int>(sizeof type));
        if (node >= 0) {
            return node;
        }
        const int made = child(0, fmt::format("memory@{:x}", base));
        set(made, "device_type", type);
        return made;
    }

    // The names of the CPUs' nodes.
    std::vector<std::string> cpus() const {
        constexpr std::string_view type("cpu\0", 4);
        std::vector<std::string> names;
        int node = 0;
        fdt_for_each_subnode(node, tree_.data(), fdt_path_offset(tree_.data(), "/cpus")) {
            int size = 0;
            const auto* found =
                static_cast<const char*>(fdt_getprop(tree_.data(), node, "device_type", &size));
            if (found != nullptr &&
                std::string_view(found, static_cast<std::size_t>(size)) == type) {
                names.emplace_back(fdt_get_name(tree_.data(), node, nullptr));
            }
        }
        return names;
    }

    void set(int node, const char* name, const std::string& text) {
        set(node, name, std::vector<std::string>{text});
    }

    void set(int node, const char* name, std::uint32_t number) {
        check(fdt_setprop_u32(tree_.data(), node, name, number));
    }

    void set_empty(int node, const char* name) {
        check(fdt_setprop_empty(tree_.data(), node, name));
    }

    void set(int node, const char* name, const std::vector<std::string>& words) {
        std::string list;
        for (const std::string& word : words) {
            list += word + '\0';
        }
        check(fdt_setprop(tree_.data(), node, name, list.data(), static_cast<int>(list.size())));
    }

    void set_numbers(int node, const char* name, const std::vector<std::uint32_t>& numbers) {
        Bytes cells;
        for (const std::uint32_t number : numbers) {
            put_cells(cells, number, 1);
        }
        check(fdt_setprop(tree_.data(), node, name, cells.data(), static_cast<int>(cells.size())));
    }

    // In the root's cells, as in the reg of a child of the root.
    void set_reg(int node, std::uint64_t address, std::uint64_t size) {
        Bytes reg;
        put_cells(reg, address, address_cells_);
        put_cells(reg, size, size_cells_);
        check(fdt_setprop(tree_.data(), node, "reg", reg.data(), static_cast<int>(reg.size())));
    }

    void set_cells(int node) {
        set(node, "#address-cells", static_cast<std::uint32_t>(address_cells_));
        set(node, "#size-cells", static_cast<std::uint32_t>(size_cells_));
    }

    void remove(int node, const char* name) { fdt_delprop(tree_.data(), node, name); }

    bool has(int node, const char* name) const {
        return fdt_getprop(tree_.data(), node, name, nullptr) != nullptr;
    }

    Bytes finish() {
        check(fdt_pack(tree_.data()));
        tree_.resize(fdt_totalsize(tree_.data()));
        return tree_;
    }

private:
    static int check(int result) {
        if (result < 0) {
            throw bad_input("cannot edit the device tree: {}", fdt_strerror(result));
        }
        return result;
    }

    static void put_cells(Bytes& to, std::uint64_t value, int cells) {
        for (int bit = cells * 32 - 8; bit >= 0; bit -= 8) {
            to.push_back(static_cast<std::byte>(bit >= 64 ? 0 : value >> bit));
        }
    }

    Bytes tree_;
    int address_cells_ = 0;
    int size_cells_ = 0;
};

// Each step looks up /chosen again: an insertion moves later offsets.
void add_module(Editor& editor, const char* kind, const Module& module) {
    const int chosen = editor.child(0, "chosen");
    const int node = editor.child(chosen, fmt::format("module@{:x}", module.address));
    editor.set(node, "compatible", std::vector<std::string>{kind, "multiboot,module"});
    editor.set_reg(node, module.address, module.size);
}

// As U-Boot describes its firmware (Linux: Documentation/devicetree/bindings/arm/psci.yaml).
void add_firmware(Editor& editor) {
    const int node = editor.child(0, "psci");
    editor.set(node, "compatible", std::vector<std::string>{"arm,psci-1.0", "arm,psci-0.2"});
    editor.set(node, "method", "smc");
}

// The other CPUs exist but are never used: their status is "fail".
void limit_cpus(Editor& editor, unsigned cpus) {
    const std::vector<std::string> names = editor.cpus();
    for (std::size_t cpu = cpus; cpu < names.size(); ++cpu) {
        editor.set(editor.child(editor.child(0, "cpus"), names[cpu]), "status", "fail");
    }
}

void set_command_line(Editor& editor, const Board& board, const BootTree& what) {
    const int chosen = editor.child(0, "chosen");
    if (what.command_line) {
        editor.set(chosen, "bootargs", *what.command_line);
    } else if (!editor.has(chosen, "bootargs")) {
        editor.set(chosen, "bootargs", std::string(board.command_line));
    }
}

void set_tracing(Editor& editor, const BootTree& what) {
    const int chosen = editor.child(0, "chosen");
    editor.set(chosen, chosen::area_size, what.area_size);
    if (!what.trace.empty()) {
        editor.set(chosen, chosen::trace, what.trace);
    }
    if (!what.engine.empty()) {
        editor.set(chosen, chosen::engine, what.engine);
    }
    if (!what.policy.empty()) {
        editor.set(chosen, chosen::policy, what.policy);
    }
    if (what.slow_path) {
        editor.set_empty(chosen, chosen::slow_path);
    }
    if (what.no_breakpoints) {
        editor.set_empty(chosen, chosen::no_breakpoints);
    }
    if (what.pre) {
        editor.set_empty(chosen, chosen::pre);
    }
    if (!what.uart.empty()) {
        editor.set(chosen, chosen::uart, what.uart);
    }
    if (!what.control_page) {
        editor.set(chosen, chosen::control, "off");
    }
    if (what.guest_reader) {
        editor.set_empty(chosen, chosen::guest_reader);
        editor.set(chosen, chosen::host_reader, "on");
    }
}

void set_requests(Editor& editor, const std::vector<control::Ask>& requests) {
    if (!requests.empty()) {
        editor.set_numbers(editor.child(0, "chosen"), chosen::requests, property_cells(requests));
    }
}

void set_cells(Editor& editor, const char* property,
               const std::optional<std::vector<std::uint32_t>>& cells) {
    if (cells) {
        editor.set_numbers(editor.child(0, "chosen"), property, *cells);
    }
}

void set_stacks(Editor& editor, const BootTree& what) {
    if (!what.stacks.empty()) {
        editor.set(editor.child(0, "chosen"), chosen::stacks, what.stacks);
        editor.set(editor.child(0, "chosen"), chosen::stack_size, what.stack_size);
    }
}

void set_task_names(Editor& editor, const std::optional<symbols::TaskOffsets>& where) {
    if (where) {
        editor.set_numbers(editor.child(0, "chosen"), chosen::task_names,
                           {where->comm, where->pid});
    }
}

void set_stream(Editor& editor, const BootTree& what) {
    if (what.stream.empty()) {
        return;
    }
    const int chosen = editor.child(0, "chosen");
    editor.set(chosen, chosen::stream, what.stream);
    editor.set(chosen, chosen::host_reader, what.stream_beside ? "on" : "off");
    if (what.stream_shared) {
        editor.set(chosen, chosen::stream_shared, std::vector<std::string>{});
    }
    if (what.stream_baud) {
        editor.set(chosen, chosen::stream_baud, *what.stream_baud);
        editor.set(chosen, chosen::stream_paced, std::vector<std::string>{});
    }
    if (what.stream_quantum) {
        editor.set(chosen, chosen::stream_quantum, *what.stream_quantum);
    }
    if (!what.stream_fold.empty()) {
        editor.set(chosen, chosen::stream_fold, what.stream_fold);
    }
}

void set_entry(Editor& editor, const BootTree& what) {
    if (what.kernel) {
        add_module(editor, chosen::kernel, *what.kernel);
    }
    const int chosen = editor.child(0, "chosen");
    if (what.entry) {
        editor.set(chosen, chosen::entry, *what.entry);
    }
    if (what.guest_tree) {
        editor.set(chosen, chosen::guest_tree, *what.guest_tree);
    }
}

} // namespace

Bytes compose_tree(const Bytes& tree, const Board& board, const BootTree& what) {
    Editor editor(tree, what.probes ? what.probes->size() : 0);
    editor.set_reg(editor.memory_node(board.ram_base), board.ram_base, what.memory);
    const int chosen = editor.child(0, "chosen");
    editor.set_cells(chosen);
    editor.remove(chosen, "linux,initrd-start");
    editor.remove(chosen, "linux,initrd-end");
    set_command_line(editor, board, what);
    set_tracing(editor, what);
    set_requests(editor, what.requests);
    set_cells(editor, chosen::probes, what.probes);
    set_cells(editor, chosen::loads_modules, what.loads_modules);
    set_cells(editor, chosen::watch, what.watch);
    set_cells(editor, chosen::pages, what.pages);
    set_stacks(editor, what);
    set_task_names(editor, what.task_names);
    set_stream(editor, what);
    if (board.boot_image) {
        add_firmware(editor);
    }
    if (board.cpus_soldered) {
        limit_cpus(editor, what.cpus);
    }
    set_entry(editor, what);
    if (what.ramdisk) {
        add_module(editor, chosen::ramdisk, *what.ramdisk);
    }
    Bytes done = editor.finish();
    if (done.size() > abi::max_tree_size) {
        throw bad_input("the device tree is too large: {} bytes, at most {} fit", done.size(),
                        abi::max_tree_size);
    }
    return done;
}

namespace {

using namespace std::chrono_literals;

/// QEMU needs milliseconds to describe a machine.
constexpr auto dump_patience = 10s;

bool ends_well(Process& process) {
    const std::optional<Exit> exit = process.wait(dump_patience);
    return exit && exit->fine();
}

/// QEMU writes a file and renames it, so it needs a folder. The destructor removes it.
class TemporaryFolder {
public:
    TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "mmioscope-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw failure("cannot make a folder in {}: {}", path_, std::strerror(errno));
        }
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace

Bytes machine_tree(const Board& board, const Options& options, const std::string& qemu) {
    const TemporaryFolder folder;
    const FileDescriptor messages = memory_file("messages", 0);
    const std::string path = folder.file("machine.dtb");
    Process process(qemu,
                    {qemu, "-M", fmt::format("{},dumpdtb={}", board.described_by, path), "-cpu",
                     std::string(board.cpu), "-smp", fmt::format("{}", options.cpus), "-m",
                     fmt::format("{}M", options.memory >> 20), "-nic", "none", "-display", "none",
                     "-audiodev", "none,id=audio"},
                    messages.get(), false);
    if (!ends_well(process)) {
        throw failure("QEMU did not write a device tree for {}: {}", board.name,
                      last_lines(messages.get(), 1));
    }
    const Bytes tree = read_input(path, "device tree");
    check_tree(tree, path);
    return tree;
}

} // namespace mmioscope::run
