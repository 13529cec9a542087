// The input files of a guest, read and checked before anything starts.
#pragma once

#include "run/board.hpp"
#include "run/run_options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mmioscope::run {

using Bytes = std::vector<std::byte>;

/// All of `path`, a regular file of at most 64 MiB. Throws Error (bad_input) that calls it `what`.
Bytes read_input(const std::string& path, const char* what);

/// Throws Error (bad_input) unless `kernel` is a complete zImage.
void check_zimage(const Bytes& kernel, const std::string& path);

/// Throws Error (bad_input) if `ramdisk` is something that Linux does not unpack, such as an image
/// with U-Boot's header.
void check_ramdisk(const Bytes& ramdisk, const std::string& path);

/// Throws Error (bad_input) unless `tree` is a complete flattened device tree of a board.
void check_tree(const Bytes& tree, const std::string& path);

/// Throws Error (bad_input) that says whose tree it is if the sound `tree` is not one of `board`.
void check_board(const Bytes& tree, const std::string& path, const Board& board);

} // namespace mmioscope::run
