// A list as it is answered: in pages, so that no reply is too large, however long the list. A page
// ends at a number of items or at a number of bytes; "next" is what a client adds to its parameters
// to ask for the page after it, or null if this was the last.
#pragma once

#include <cstddef>
#include <string>

#include "daemon/json/fields.h"

namespace moil::daemon {

constexpr int kMostListed = 1000;  // items of a page

class Page {
 public:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;

  explicit Page(std::size_t most_items) : most_items_(most_items) {}

  // False if the page was full before: the item is not in it. `next` asks for what follows it.
  bool add(Json item, Json next);
  // {MEMBER: [items], "next": ...}
  Json finish(const char* member) &&;

 private:
  std::size_t most_items_;
  std::size_t bytes_ = 0;
  bool more_ = false;
  Json items_ = Json::array();
  Json next_;
};

}  // namespace moil::daemon
