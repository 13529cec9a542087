// The kernel's form of a socket's address.
#pragma once

#include "transport/address.hpp"

#include <sys/socket.h>

#include <string>
#include <vector>

namespace mmioscope::transport {

class SocketName {
public:
    SocketName(const void* bytes, socklen_t size);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }

private:
    sockaddr_storage storage_{};
    socklen_t size_;
};

/// At least one; a host may have several. Throws Error (bad_input) if there is no such host.
std::vector<SocketName> socket_names(const Address& address);

/// What others call the listening socket `fd` by: `address` with the port that it got.
std::string bound_name(int fd, const Address& address);

} // namespace mmioscope::transport
