// What one client may cost the daemon.
#pragma once

#include <chrono>
#include <cstddef>

namespace moil::daemon {

// Files whose descriptors go along at once: from moilctl to the daemon, from it to a worker.
inline constexpr std::size_t kFilesAtOnce = 50;
// Descriptors that any client may send along with one request.
inline constexpr std::size_t kMostFiles = 64;

struct Limits {
  std::size_t request_bytes = std::size_t{1} << 20;  // one line; all that are not answered yet
  std::size_t output_bytes = std::size_t{4} << 20;   // not read yet: the next requests wait
  std::size_t reply_bytes = std::size_t{16} << 20;   // one reply; larger ones become errors
  std::size_t clients = 512;
  std::size_t clients_per_user = 256;    // so that one user leaves room for the others
  double requests_per_second = 500;      // of one client; what comes faster waits
  std::size_t batch = 100;               // requests in one line
  std::size_t in_flight = 64;            // requests not answered yet
  std::size_t descriptors = kMostFiles;  // sent along with one request
  int nesting = 64;
  std::chrono::milliseconds request_time{10'000};  // from a line's first byte to its end
  std::chrono::milliseconds output_time{30'000};   // without the client reading a byte
  std::chrono::milliseconds file_time{30'000};     // for a file that a client names or sends along
};

}  // namespace moil::daemon
