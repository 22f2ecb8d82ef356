// What there is only so much of, such as descriptors, and how much of it each user holds: no user
// takes what the others need. Copies share the account. Loop thread only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace moil::daemon {

class Budget {
 public:
  struct Most {
    std::size_t together = 0;  // of all users
    std::size_t user = 0;      // of one
  };

  // Given back at the end of its life, in part by give_back().
  class Charge {
   public:
    Charge() = default;
    Charge(Charge&& other) noexcept
        : account_(std::move(other.account_)),
          user_(other.user_),
          amount_(std::exchange(other.amount_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(account_, other.account_);
      std::swap(user_, other.user_);
      std::swap(amount_, other.amount_);
      return *this;
    }
    ~Charge();
    // `other` is the same user's.
    void add(Charge other);
    std::size_t amount() const { return amount_; }

   private:
    friend class Budget;
    struct Account;
    Charge(std::shared_ptr<Account> account, uid_t user, std::size_t amount)
        : account_(std::move(account)), user_(user), amount_(amount) {}
    std::shared_ptr<Account> account_;
    uid_t user_ = 0;
    std::size_t amount_ = 0;
  };

  explicit Budget(Most most);
  // In moild clients may have half of the descriptors that this process may have, one user a
  // quarter.
  static Budget of_descriptors();

  // Empty if that would be more than there is for the user.
  std::optional<Charge> take(uid_t user, std::size_t amount) const;
  std::size_t of(uid_t user) const;  // what the user holds
  const Most& most() const;

 private:
  std::shared_ptr<Charge::Account> account_;
};

}  // namespace moil::daemon
