#include "daemon/rpc/page.h"

#include "daemon/rpc/reply.h"

namespace moil::daemon {

bool Page::add(Json item, Json next) {
  const std::size_t bytes = to_line(item).size();
  more_ = !items_.empty() && (items_.size() >= most_items_ || bytes_ + bytes > kBytes);
  if (more_) return false;
  bytes_ += bytes;
  items_.push_back(std::move(item));
  next_ = std::move(next);
  return true;
}

Json Page::finish(const char* member) && {
  return {{member, std::move(items_)}, {"next", more_ ? std::move(next_) : Json(nullptr)}};
}

}  // namespace moil::daemon
