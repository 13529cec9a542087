// Catch2 of the version that is installed: Debian 12 has 2, Debian 13 has 3. The tests use the
// names of 2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

namespace Catch {
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::Matches;
using Matchers::StartsWith;
using Matchers::VectorContains;
inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
} // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
