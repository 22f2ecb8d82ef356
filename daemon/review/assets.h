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

// All of page/ that is given to everybody.
std::span<const Asset> assets();
// In place of the page, for who may not see it. Whole in itself.
std::string_view closed_page();

}  // namespace moil::review
