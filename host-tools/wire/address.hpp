// Parses the address of the other end of a wire, as a user writes it. Only this parses it.
//
//     -                         standard input
//     tcp:HOST:PORT[,listen]    HOST may be [IPv6]; empty with `listen`: on every interface
//     unix:PATH[,listen]        PATH may have commas
//     PATH                      serial port, pty, FIFO or file, detected when it is opened
#pragma once

#include <string>
#include <string_view>

namespace mmioscope::wire {

enum class Kind { standard_input, path, unix_socket, tcp };

struct Address {
    Kind kind = Kind::path;
    std::string text;    ///< as the user wrote it
    std::string path;    ///< for Kind::path and Kind::unix_socket
    std::string host;    ///< for Kind::tcp, without brackets
    std::string port;    ///< for Kind::tcp, decimal; "0" with `listen`: any free port
    bool listen = false; ///< wait for the other side instead of connecting to it
};

/// Throws Error (bad_input) with the reason in one line if `text` is invalid.
Address parse_address(std::string_view text);

} // namespace mmioscope::wire
