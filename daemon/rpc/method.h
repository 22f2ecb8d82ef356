// The command table as data: a line a method. methods/*.cc fill it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/rpc/connection.h"
#include "daemon/rpc/error.h"
#include "daemon/rpc/role.h"

namespace moil::daemon {

// Answers one request, on the loop's thread, once; the first answer counts. May outlive the client.
// A request whose last responder goes without an answer is answered with an error. Copies are of
// the same request.
class Responder {
 public:
  using Send = std::function<void(Json result, const RpcError* error)>;
  explicit Responder(Send send, uid_t user = 0);

  void result(Json value) const { answer(std::move(value), nullptr); }
  void error(const RpcError& error) const { answer(nullptr, &error); }
  uid_t user() const;  // whose request it is

  // False once it was answered: whatever is done for it is in vain.
  bool is_open() const;
  // Holds it until the request was answered.
  void keep(std::shared_ptr<const void> held) const;
  // Called if the request is given up before its work is done; at once if it was already.
  void on_stop(std::function<void()> stop) const;
  // Gives it up if it is still open; holds no responder.
  std::function<void()> stopper(RpcError why) const;
  // Gone with the last copy.
  std::weak_ptr<const void> token() const { return state_; }

 private:
  struct State;
  explicit Responder(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void answer(Json value, const RpcError* error) const;
  std::shared_ptr<State> state_;
};

// A request as its handler sees it.
struct Call {
  Json params = Json::object();  // always an object
  std::vector<UniqueFd> files;   // that came along, as many as its method takes at most
  std::weak_ptr<Connection> client;
  std::string method;  // its name
};

struct Method {
  using Handle = std::function<Json(Call&)>;                   // answers with what it returns
  using Defer = std::function<void(Call&, const Responder&)>;  // answers later
  struct Run : std::variant<Handle, Defer> {
    using std::variant<Handle, Defer>::variant;
    Json (*params)() = nullptr;  // schema_of() them
  };
  // Where the work is done. All but the first go through the client's lane (lane.h): a client has
  // one such request under way at a time.
  enum class Lane {
    kLoop,    // a Handle on the loop's thread: a transaction or a page of rows, no more
    kRead,    // a Handle on the thread that reads; holds up no writer
    kWrite,   // a Handle on the thread that writes, one at a time
    kSteps,   // a Defer begins on the loop's thread; it goes on in the background
    kWorker,  // as kSteps, when it is the user's turn to have a worker (user_turns.h); the work
              // ends with its time, if it has one, and with its client
  };
  std::string name;
  std::string since;         // the version of moild that brought it
  Role role = Role::kAdmin;  // that a client must have before the method answers it
  std::string summary;
  Lane lane = Lane::kLoop;
  Run run;
  std::chrono::seconds deadline{0};  // of kWorker: from its turn to its answer
  // Work that lasts as long as its client likes: it takes a turn to begin and gives it back at
  // once, and its method says how much of it there may be.
  static constexpr auto kNoDeadline = std::chrono::seconds::max();
  std::size_t descriptors = 0;  // that may come along
};

using MethodTable = std::vector<Method>;

}  // namespace moil::daemon
