#include "daemon/rpc/dispatcher.h"

#include "base/seconds.h"
#include "daemon/json/parse.h"
#include "daemon/log/log.h"
#include "daemon/rpc/batch.h"

namespace moil::daemon {

// The reply to a request that is a line by itself is a line, too.
class Dispatcher::Line : public ReplyTarget {
 public:
  Line(const std::shared_ptr<Connection>& client, std::size_t bytes, Budget::Charge files)
      : client_(client), bytes_(bytes), files_(std::move(files)) {
    client->begin_request(bytes);
  }
  ~Line() override {
    if (const auto client = client_.lock()) client->end_request(bytes_);
  }
  void put(const std::string& text) override {
    if (const auto client = client_.lock()) client->send(text);
  }

 private:
  std::weak_ptr<Connection> client_;
  std::size_t bytes_;
  Budget::Charge files_;  // that came along: the request holds them as long as it lasts
};

namespace {

bool is_id(const Json& id) { return id.is_string() || id.is_number() || id.is_null(); }

// What is wrong with a request as such; empty if nothing is wrong.
std::string complaint(const Json& request) {
  if (!request.is_object()) return "a request must be an object, found " + describe(request);
  if (!request.contains("jsonrpc") || request["jsonrpc"] != "2.0") {
    return "a request must have \"jsonrpc\": \"2.0\"";
  }
  if (!request.contains("method") || !request["method"].is_string()) {
    return "a request must have a \"method\" that is a string";
  }
  if (request.contains("id") && !is_id(request["id"])) {
    return "\"id\" must be a string, a number or null";
  }
  return {};
}

RpcError not_allowed(const Caller& caller, const Method& method) {
  const std::string needed = to_string(method.role);
  return permission_denied(method.name + " needs the role \"" + needed + "\"; user " +
                           std::to_string(caller.user) + " has \"" + to_string(caller.role) +
                           "\". An administrator gives it: name the user or one of its groups in "
                           "\"access\": {\"" +
                           needed + "\": [...]} of moild.json and restart moild");
}

// What is wrong with the files that came along; empty if nothing is wrong.
std::string complaint(const Method& method, const SentFiles& sent) {
  if (sent.refused > 0)
    return "too many files that your clients sent along are still in use; send this again when "
           "they are done";
  if (sent.files.size() <= method.descriptors) return {};
  return method.name + " takes " +
         (method.descriptors == 0 ? "no files"
                                  : std::to_string(method.descriptors) + " files at most") +
         " along with it; " + std::to_string(sent.files.size()) + " came";
}

RpcError refusal(const std::string& why, bool is_for_now) {
  return rpc_error(std::make_exception_ptr(
      Error(is_for_now ? ErrorCode::kResourceExhausted : ErrorCode::kInvalidArgument, why)));
}

RpcError cancelled_because(const std::string& why) {
  return rpc_error(std::make_exception_ptr(Error(ErrorCode::kCancelled, why)));
}

// A timer that is gone when its owner is.
std::shared_ptr<const void> timer(EventLoop& loop, std::chrono::seconds time,
                                  std::function<void()> task) {
  const auto id = loop.after(time, std::move(task));
  return {static_cast<const void*>(&loop), [&loop, id](const void*) { loop.cancel(id); }};
}

// Runs a handler in place.
void carry_out(const Method& method, Call& call, const Responder& responder) {
  try {
    if (const auto* handle = std::get_if<Method::Handle>(&method.run))
      return responder.result((*handle)(call));
    std::get<Method::Defer>(method.run)(call, responder);
  } catch (...) {
    const RpcError error = rpc_error(std::current_exception());
    if (error.code == kInternalError) log_error("{}: {}", method.name, error.message);
    responder.error(error);
  }
}

Json id_of(const Json& request) {
  if (!request.is_object() || !request.contains("id") || !is_id(request["id"])) return nullptr;
  return request["id"];
}

}  // namespace

Dispatcher::Dispatcher(const MethodTable& methods, const Places& places, const Limits& limits,
                       RequestCounts& counts)
    : methods_(methods), places_(places), limits_(limits), counts_(counts) {}

void Dispatcher::line(const std::shared_ptr<Connection>& client, const std::string& line,
                      SentFiles files) {
  ++taken_;
  try {
    take(client, line, std::move(files));
  } catch (...) {
    const RpcError error = rpc_error(std::current_exception());
    log_error("a request could not be begun: {}", error.message);
    client->send(to_line(error_reply(nullptr, error)));
  }
}

void Dispatcher::take(const std::shared_ptr<Connection>& client, const std::string& line,
                      SentFiles files) {
  Json document;
  try {
    document = parse_json(line, limits_.nesting);
  } catch (const Error& error) {
    client->send(to_line(error_reply(nullptr, rpc_error(kParseError, error.what()))));
    return;
  }
  if (document.is_array()) return batch(client, std::move(document));
  auto target = std::make_unique<Line>(client, line.size(), std::move(files.charge));
  request(client, document, std::move(files), std::move(target));
}

void Dispatcher::batch(const std::shared_ptr<Connection>& client, Json requests) {
  if (requests.empty() || requests.size() > limits_.batch) {
    const std::string text = "a batch must hold 1 to " + std::to_string(limits_.batch) +
                             " requests, found " + std::to_string(requests.size());
    client->send(to_line(error_reply(nullptr, rpc_error(kInvalidRequest, text))));
    return;
  }
  client->count_requests(requests.size() - 1);
  Batch::begin(client, std::move(requests),
               [this](const auto& whose, const Json& item, std::unique_ptr<ReplyTarget> target) {
                 request(whose, item, {}, std::move(target));
               });
}

void Dispatcher::request(const std::shared_ptr<Connection>& client, const Json& request,
                         SentFiles files, std::unique_ptr<ReplyTarget> target) {
  const std::string wrong = complaint(request);
  const bool wants_reply = !wrong.empty() || request.contains("id");
  const auto reply =
      std::make_shared<Reply>(id_of(request), wants_reply, limits_.reply_bytes, std::move(target));
  if (!wrong.empty()) return reply->error(rpc_error(kInvalidRequest, wrong));

  const std::string& name = request["method"].get_ref<const std::string&>();
  const Method* method = find(name);
  RequestCount& count = counts_[method != nullptr ? method->name : "unknown"];
  const bool changes = method != nullptr && method->role > Role::kRead;
  const Responder responder(
      [this, reply, changes, &count, start = std::chrono::steady_clock::now()](
          Json result, const RpcError* error) {
        ++count.answered;
        count.seconds += seconds_since(start);
        if (error != nullptr) ++count.errors[error->data.value("code", "")];
        answer(reply, std::move(result), error, changes);
      },
      client->caller().user);
  if (method == nullptr) return responder.error(unknown_method(name));
  if (client->caller().role < method->role)
    return responder.error(not_allowed(client->caller(), *method));

  if (const std::string why = complaint(*method, files); !why.empty())
    return responder.error(refusal(why, files.refused > 0));

  Call call{request.value("params", Json::object()), std::move(files.files), client, method->name};
  if (!call.params.is_object()) {
    return responder.error(
        rpc_error(kInvalidParams, "\"params\" must be an object, found " + describe(call.params)));
  }
  start(*method, std::move(call), responder);
}

// Who changed something is answered when that survives a power cut. What only tells is told at
// once.
void Dispatcher::answer(const std::shared_ptr<Reply>& reply, Json result, const RpcError* error,
                        bool changes) const {
  if (error != nullptr) return reply->error(*error);
  if (!changes || !places_.when_kept) return reply->result(std::move(result));
  places_.when_kept(
      [reply, result = std::make_shared<Json>(std::move(result))](const std::exception_ptr& lost) {
        lost ? reply->error(rpc_error(lost)) : reply->result(std::move(*result));
      });
}

void Dispatcher::start(const Method& method, Call call, const Responder& responder) {
  if (method.lane == Method::Lane::kLoop) return carry_out(method, call, responder);
  const auto client = call.client.lock();
  if (!client) return;
  if (method.lane == Method::Lane::kWorker)
    client->when_gone(responder.token(),
                      responder.stopper(cancelled_because("its client is gone")));
  client->lane()->add([this, &method, call = std::make_shared<Call>(std::move(call)),
                       responder](const Lane::Turn& turn) {
    if (!responder.is_open()) return;
    responder.keep(turn);
    begin(method, call, responder);
  });
}

void Dispatcher::begin(const Method& method, const std::shared_ptr<Call>& call,
                       const Responder& responder) {
  switch (method.lane) {
    case Method::Lane::kRead:
    case Method::Lane::kWrite:
      return answer_in_background(
          method.lane == Method::Lane::kRead ? places_.reading : places_.writing, responder,
          [&method, call] { return std::get<Method::Handle>(method.run)(*call); });
    case Method::Lane::kWorker:
      return begin_worker(method, call, responder);
    default:
      return carry_out(method, *call, responder);
  }
}

void Dispatcher::begin_worker(const Method& method, const std::shared_ptr<Call>& call,
                              const Responder& responder) {
  const auto client = call->client.lock();
  if (!client) return;
  const Caller& caller = client->caller();
  responder.on_stop([this] { places_.workers.drop_unwanted(); });
  places_.workers.ask(
      {caller.user, caller.role == Role::kAdmin}, [responder] { return responder.is_open(); },
      [this, &method, call, responder](UserTurns::Turn turn) {
        if (method.deadline == Method::kNoDeadline) return carry_out(method, *call, responder);
        const std::string seconds = std::to_string(method.deadline.count());
        responder.keep(std::move(turn));
        responder.keep(timer(places_.loop, method.deadline,
                             responder.stopper(cancelled_because(
                                 method.name + " was not done after " + seconds +
                                 " s and was ended; ask for less at once, and see whether a disk "
                                 "or network drive of this device hangs"))));
        carry_out(method, *call, responder);
      });
}

const Method* Dispatcher::find(const std::string& name) const {
  for (const Method& method : methods_) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

RpcError Dispatcher::unknown_method(const std::string& name) const {
  std::vector<std::string> known;
  for (const Method& method : methods_) known.push_back(method.name);
  return {kMethodNotFound,
          unknown_message("method", name.substr(0, 200), known),
          {{"code", to_string(ErrorCode::kUnimplemented)}}};
}

void answer_in_background(Background& background, const Responder& responder,
                          std::function<Json()> work) {
  background.submit([responder, work = std::move(work)]() -> Background::Done {
    try {
      const auto result = std::make_shared<Json>(work());
      return [result, responder] { responder.result(std::move(*result)); };
    } catch (...) {
      const RpcError error = rpc_error(std::current_exception());
      return [error, responder] { responder.error(error); };
    }
  });
}

}  // namespace moil::daemon
