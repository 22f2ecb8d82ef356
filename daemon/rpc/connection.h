// One client's socket: lines in, lines out, within the limits.
//
// A line that is too long is answered by the owner and the rest is discarded; a line that does not
// end in time, or output that nobody reads, closes the connection. Descriptors that arrive with a
// line (SCM_RIGHTS) belong to it. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/loop/event_loop.h"
#include "daemon/rpc/limits.h"

namespace moil::daemon {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Callbacks {
    std::function<void(const std::shared_ptr<Connection>&, std::string line,
                       std::vector<UniqueFd> files)>
        line;
    std::function<void(const std::shared_ptr<Connection>&)> too_long;  // before the hang-up
    std::function<void(const std::shared_ptr<Connection>&)> drained;   // output became empty
    std::function<void(const std::shared_ptr<Connection>&)> closed;
  };

  Connection(EventLoop& loop, UniqueFd socket, const Limits& limits, Callbacks callbacks);
  ~Connection();

  void open();  // begins to read; after make_shared
  void send(const std::string& line);
  void close();
  // Sends what waits, then closes once the client has seen it.
  void hang_up();

  bool is_open() const { return static_cast<bool>(socket_); }
  std::size_t waiting() const { return output_.size(); }  // bytes not read by the client yet
  // Requests begun and ended by the dispatcher; reading pauses at the limit.
  void begin_request() { ++in_flight_; }
  void end_request();

 private:
  void on_ready(std::uint32_t events);
  bool read_some();
  void take_lines();
  void write_some();
  void update_watch();
  void watch_request_time();
  void watch_output_time();
  bool paused() const;

  EventLoop& loop_;
  UniqueFd socket_;
  const Limits& limits_;
  Callbacks callbacks_;
  std::string input_;
  std::size_t scanned_ = 0;  // of input_, known to hold no newline
  std::vector<UniqueFd> files_;
  std::string output_;
  std::size_t in_flight_ = 0;
  bool taking_ = false;      // inside take_lines()
  bool hanging_up_ = false;  // input is discarded
  bool shut_ = false;        // our side is closed for writing
  EventLoop::TimerId request_timer_ = 0;
  EventLoop::TimerId output_timer_ = 0;
};

}  // namespace moil::daemon
