// The command table as data: a line a method. methods/*.cc fill it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/rpc/connection.h"
#include "daemon/rpc/error.h"
#include "daemon/rpc/role.h"

namespace moil::daemon {

// Answers one request, on the loop's thread, once; the first answer counts. May outlive the client.
// A request whose last responder goes without an answer is answered with an error.
class Responder {
 public:
  using Send = std::function<void(Json result, const RpcError* error)>;
  Responder(Send send, std::weak_ptr<Lane> lane)
      : send_(std::make_shared<Send>(std::move(send))), lane_(std::move(lane)) {}

  void result(Json value) const { answer(std::move(value), nullptr); }
  void error(const RpcError& error) const { answer(nullptr, &error); }
  // Does the step when it is the client's turn; never where the client is gone.
  void in_turn(Lane::Step step) const {
    if (const auto lane = lane_.lock()) lane->add(std::move(step));
  }

 private:
  void answer(Json value, const RpcError* error) const {
    if (const Send send = std::exchange(*send_, nullptr)) send(std::move(value), error);
  }
  std::shared_ptr<Send> send_;
  std::weak_ptr<Lane> lane_;
};

// A request as its handler sees it.
struct Call {
  Json params = Json::object();  // always an object
  std::vector<UniqueFd> files;   // that came along
  std::weak_ptr<Connection> client;
};

struct Method {
  enum class Where {
    kLoop,        // `handle` runs on the loop's thread and must be quick
    kBackground,  // `handle` runs on the background thread, one at a time
    kDeferred,    // `defer` runs on the loop's thread and answers later
  };
  std::string name;
  std::string since;         // the version of moild that brought it
  Role role = Role::kAdmin;  // that a client must have before the method answers it
  std::string summary;
  Where where = Where::kLoop;
  std::function<Json(Call&)> handle;
  std::function<void(Call&, const Responder&)> defer;
};

using MethodTable = std::vector<Method>;

}  // namespace moil::daemon
