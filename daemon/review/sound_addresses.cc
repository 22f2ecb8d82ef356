#include "daemon/review/sound_addresses.h"

#include <algorithm>

#include "daemon/review/gate.h"

namespace moil::review {

std::string SoundAddresses::issue(const std::string& digest) {
  const std::lock_guard guard(mutex_);
  if (issued_.size() == kMost) issued_.pop_front();
  issued_.push_back({new_secret(), digest, now_()});
  return issued_.back().name;
}

std::optional<std::string> SoundAddresses::sound_of(const std::string& name) {
  const std::lock_guard guard(mutex_);
  const auto now = now_();
  std::erase_if(issued_, [&](const Issued& one) { return now - one.used > kUnused; });
  const auto found = std::ranges::find(issued_, name, &Issued::name);
  if (found == issued_.end()) return std::nullopt;
  found->used = now;
  return found->digest;
}

}  // namespace moil::review
