// The commands of --at-start, as requests to the hypervisor that apply before the guest starts.
#pragma once

#include "abi/ring.hpp"
#include "control/relay.hpp"
#include "control/requests.hpp"
#include "run/input.hpp"
#include "system/file_descriptor.hpp"
#include "wire/stream_head.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::run {

/// What decides which policies a boot can change to.
struct BootPolicy {
    abi::Policy first;
    bool guest_reader;
};

/// The requests for `commands`, each in the syntax of `mmioscope ctl`; devices are those of `tree`.
/// Throws Error (bad_input), one line that begins with `option`, for invalid words, words not
/// allowed before the guest runs, unknown devices, too many requests for a boot, and what the boot
/// would refuse, as far as that is known from the tree, and from `policy`.
std::vector<control::Ask> early_requests(const std::vector<std::string>& commands,
                                         const Bytes& tree,
                                         const std::string& option = "--at-start ",
                                         const std::optional<BootPolicy>& policy = {});

/// The property's cells, one request after the other.
std::vector<std::uint32_t> property_cells(const std::vector<control::Ask>& requests);

/// Name and cells for U-Boot's `fdt set`, as one argument, since some boards allow few arguments.
std::string property_text(const std::vector<control::Ask>& requests);

// Lets `mmioscope ctl` reach a guest in QEMU: the stream's UART is a socket instead of a file.
// Bytes from QEMU go to the file, bytes from clients go to QEMU.

class ControlWire {
public:
    /// Listens on the unix socket `path`. `stream`, the file, belongs to the caller. Throws Error.
    ControlWire(const std::string& path, int stream);

    /// The UART's end of the socket, which QEMU inherits.
    int for_qemu() const { return uart_.get(); }
    /// Call it when QEMU has it.
    void started() { uart_ = FileDescriptor(); }

    /// Passes on what has arrived in either direction, at most a MiB. Never waits. Returns whether
    /// there may be more.
    bool pass();

private:
    int stream_;
    std::vector<std::byte> buffer_;
    FileDescriptor uart_;
    FileDescriptor here_;
    control::Relay relay_;
};

// Checks --trace against the device tree before anything starts.

/// Splits `arguments` at commas and checks each word: all, none, a node path, an alias, another
/// name that only one node has (which becomes the path), or BASE+SIZE; "!" before a word excludes.
/// Returns the words for the hypervisor (abi::chosen::trace). Throws Error (bad_input) that lists
/// the devices of `tree` if one is unknown.
std::vector<std::string> select_devices(const std::vector<std::string>& arguments,
                                        const Bytes& tree);

struct StackChoice {
    std::uint32_t size; ///< bytes of each stack
    std::vector<std::string> devices;
};

/// Reads "BYTES:NAME,NAME...", or only the names, each of one or several devices, or "all". Throws
/// Error (bad_input) like select_devices().
StackChoice choose_stacks(std::string_view text, const Bytes& tree);

/// The paths of all nodes with a `reg` that the CPU can address, in the order of the tree.
std::vector<std::string> device_paths(const Bytes& tree);

// Finds the devices of a board in its device tree, like the hypervisor.

/// Every `reg` entry below 4 GiB that the CPU can address, and the aliases; the rest of the head is
/// empty. For control::find_device().
wire::StreamHead tree_devices(const Bytes& tree);

} // namespace mmioscope::run
