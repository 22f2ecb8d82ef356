// The review's page, in the program.
#pragma once

#include <span>
#include <string_view>

namespace moil::review {

struct Asset {
  const char* path;  // of its address
  std::string_view text;
  const char* type;
};

// All of page/.
std::span<const Asset> assets();

}  // namespace moil::review
