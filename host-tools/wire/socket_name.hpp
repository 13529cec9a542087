// A socket address in the kernel's form.
#pragma once

#include "wire/address.hpp"

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::wire {

class SocketName {
public:
    SocketName(const void* bytes, socklen_t size);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }
    /// Does nothing to the name of a unix socket.
    void set_port(std::uint16_t port);
    bool operator==(const SocketName& other) const;

private:
    sockaddr_storage storage_{};
    socklen_t size_;
};

/// At least one, none twice; a host may have several. Throws Error (bad_input) if the host does not
/// exist.
std::vector<SocketName> socket_names(const Address& address);

/// The port of the socket `fd`; of a unix socket 0.
std::uint16_t bound_port(int fd);

/// The address at which others reach the listening socket `fd`: `address` with its actual port.
std::string bound_name(int fd, const Address& address);

} // namespace mmioscope::wire
