// One client's socket: lines in, lines out, within the limits.
//
// Lines are taken one at a time, and users take turns, so that no client holds up the others; while
// too many are not answered yet, too much of the answers is not read, or they come too fast, the
// next ones wait in the socket. A line that is too long is answered by the owner and the rest is
// discarded; a line that does not end in time, or output of which nothing is read for a time,
// closes the connection. A client that ends its side is served to its last line. Descriptors that
// arrive with a line (SCM_RIGHTS) belong to it. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/loop/event_loop.h"
#include "daemon/rpc/lane.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/pace.h"
#include "daemon/rpc/role.h"
#include "daemon/rpc/sent_files.h"
#include "daemon/rpc/user_tasks.h"

namespace moil::daemon {

// Whose connection it is.
struct Caller {
  uid_t user = 0;
  Role role = Role::kRead;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Callbacks {
    std::function<void(const std::shared_ptr<Connection>&, std::string line, SentFiles files)> line;
    std::function<void(const std::shared_ptr<Connection>&)> too_long;  // before the hang-up
    std::function<void(const std::shared_ptr<Connection>&)> drained;   // nothing waits any more
    std::function<void(const std::shared_ptr<Connection>&)> closed;
  };

  // tasks: its lines take turns with them. The files that clients send along count against
  // `descriptors`.
  Connection(EventLoop& loop, UserTasks& tasks, UniqueFd socket, const Caller& caller,
             const Limits& limits, Callbacks callbacks,
             Budget descriptors = Budget::of_descriptors());
  ~Connection();

  void open();  // begins to read; after make_shared
  void send(const std::string& line);
  // A line in parts, between which nothing else is sent; the newline comes with the end.
  void send_part(std::string_view part);
  void end_parts();
  void close();
  // Sends what waits, then closes once the client has seen it.
  void hang_up();

  const Caller& caller() const { return caller_; }
  bool is_open() const { return static_cast<bool>(socket_); }
  // Bytes that the client has not read yet.
  std::size_t waiting() const { return output_.size() - sent_ + held_.size(); }
  // Whether replies may be made for it: it has read most of those before.
  bool has_room() const { return deaf_ || waiting() <= limits_.output_bytes; }
  void when_room(EventLoop::Task task);  // once; soon if there is room already

  // Requests begun and ended by the dispatcher, with the size of their line.
  void begin_request(std::size_t bytes);
  void end_request(std::size_t bytes);
  // Further requests that came in the same line.
  void count_requests(std::size_t more);
  // Calls `begin` when every request before is answered; takes no line until end_alone().
  void alone(EventLoop::Task begin);
  void end_alone();
  const std::shared_ptr<Lane>& lane() const { return lane_; }
  // Calls `task` when nobody can read an answer any more, as long as the token is there.
  void when_gone(std::weak_ptr<const void> token, EventLoop::Task task);

 private:
  void on_ready(std::uint32_t events);
  void on_gone();
  bool read_some();
  void account_for(std::size_t files);
  void tell_gone();
  void take_soon();
  void take_line();
  bool take_one();
  void write_some();
  void drop_output();
  void on_room();
  void close_if_done();
  void update_watch();
  void watch_request_time();
  void watch_output_time();
  bool paused() const;

  EventLoop& loop_;
  UserTasks& tasks_;
  UniqueFd socket_;
  const Caller caller_;
  const Limits& limits_;
  Callbacks callbacks_;
  std::string input_;
  std::size_t scanned_ = 0;  // of input_, known to hold no newline
  const Budget descriptors_;
  SentFiles sent_files_;  // with the line that is not whole yet
  std::string output_;
  std::size_t sent_ = 0;  // of output_
  bool in_parts_ = false;
  std::string held_;      // lines that wait for the end of one in parts
  bool blocked_ = false;  // something waits, or did until now
  std::vector<EventLoop::Task> when_room_;
  std::vector<std::pair<std::weak_ptr<const void>, EventLoop::Task>> when_gone_;
  std::size_t in_flight_ = 0;
  std::size_t in_flight_bytes_ = 0;
  bool alone_ = false;
  EventLoop::Task begin_alone_;
  const std::shared_ptr<Lane> lane_;
  Pace pace_;
  EventLoop::TimerId pace_timer_ = 0;  // until the next line may be taken
  bool taking_soon_ = false;
  bool ended_ = false;       // the client sends nothing more
  bool deaf_ = false;        // it reads nothing more
  bool gone_ = false;        // both, and the socket is not watched any more
  bool hanging_up_ = false;  // input is discarded
  bool shut_ = false;        // our side is closed for writing
  EventLoop::TimerId request_timer_ = 0;
  EventLoop::TimerId output_timer_ = 0;
};

}  // namespace moil::daemon
