// Addresses at which a browser may load sounds: its player asks for them by an address alone, so
// the address is the secret. Each is new, serves for one sound, and ends when nobody has used it
// for a while, or when there are many newer ones.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace moil::review {

class SoundAddresses {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes kUnused{10};
  static constexpr std::size_t kMost = 32;

  explicit SoundAddresses(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  // A name that nobody can guess.
  [[nodiscard]] std::string issue(const std::string& digest);
  // The sound of a name that was issued and has not ended; it lasts on from now.
  [[nodiscard]] std::optional<std::string> sound_of(const std::string& name);

 private:
  struct Issued {
    std::string name, digest;
    Clock::time_point used;
  };

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::deque<Issued> issued_;  // guarded by mutex_; the oldest first
};

}  // namespace moil::review
