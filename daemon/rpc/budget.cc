#include "daemon/rpc/budget.h"

#include <sys/resource.h>

#include <algorithm>

namespace moil::daemon {

struct Budget::Charge::Account {
  Most most;
  std::size_t together = 0;
  std::map<uid_t, std::size_t> users;
};

Budget::Charge::~Charge() {
  if (!account_ || amount_ == 0) return;
  account_->together -= amount_;
  const auto user = account_->users.find(user_);
  user->second -= amount_;
  if (user->second == 0) account_->users.erase(user);
}

void Budget::Charge::add(Charge other) {
  if (!account_) {
    *this = std::move(other);
    return;
  }
  amount_ += std::exchange(other.amount_, 0);
}

Budget::Budget(Most most) : account_(std::make_shared<Charge::Account>()) { account_->most = most; }

Budget Budget::of_descriptors() {
  constexpr std::size_t kUnlimited = 1 << 20;
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const std::size_t all = known ? std::min<std::size_t>(limit.rlim_cur, kUnlimited) : kUnlimited;
  return Budget({.together = all / 2, .user = all / 4});
}

std::optional<Budget::Charge> Budget::take(uid_t user, std::size_t amount) const {
  Charge::Account& account = *account_;
  if (account.together + amount > account.most.together || of(user) + amount > account.most.user)
    return std::nullopt;
  account.together += amount;
  if (amount > 0) account.users[user] += amount;
  return Charge(account_, user, amount);
}

std::size_t Budget::of(uid_t user) const {
  const auto found = account_->users.find(user);
  return found == account_->users.end() ? 0 : found->second;
}

const Budget::Most& Budget::most() const { return account_->most; }

}  // namespace moil::daemon
