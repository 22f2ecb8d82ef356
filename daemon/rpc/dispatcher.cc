#include "daemon/rpc/dispatcher.h"

#include <spdlog/spdlog.h>

#include "base/seconds.h"
#include "daemon/json/parse.h"
#include "daemon/rpc/batch.h"

namespace moil::daemon {

// The reply to a request that is a line by itself is a line, too.
class Dispatcher::Line : public ReplyTarget {
 public:
  Line(const std::shared_ptr<Connection>& client, std::size_t bytes)
      : client_(client), bytes_(bytes) {
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
};

namespace {

bool is_id(const Json& id) { return id.is_string() || id.is_number() || id.is_null(); }

// What is wrong with a request as such; empty where nothing is.
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

Json id_of(const Json& request) {
  if (!request.is_object() || !request.contains("id") || !is_id(request["id"])) return nullptr;
  return request["id"];
}

}  // namespace

Dispatcher::Dispatcher(const MethodTable& methods, Background& background, const Limits& limits,
                       RequestCounts& counts)
    : methods_(methods), background_(background), limits_(limits), counts_(counts) {}

void Dispatcher::line(const std::shared_ptr<Connection>& client, const std::string& line,
                      std::vector<UniqueFd> files) {
  ++taken_;
  try {
    take(client, line, std::move(files));
  } catch (...) {
    const RpcError error = rpc_error(std::current_exception());
    spdlog::error("a request could not be begun: {}", error.message);
    client->send(to_line(error_reply(nullptr, error)));
  }
}

void Dispatcher::take(const std::shared_ptr<Connection>& client, const std::string& line,
                      std::vector<UniqueFd> files) {
  Json document;
  try {
    document = parse_json(line, limits_.nesting);
  } catch (const Error& error) {
    client->send(to_line(error_reply(nullptr, rpc_error(kParseError, error.what()))));
    return;
  }
  if (document.is_array()) return batch(client, std::move(document));
  request(client, document, std::move(files), std::make_unique<Line>(client, line.size()));
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
                         std::vector<UniqueFd> files, std::unique_ptr<ReplyTarget> target) {
  const std::string wrong = complaint(request);
  const bool wants_reply = !wrong.empty() || request.contains("id");
  const auto reply =
      std::make_shared<Reply>(id_of(request), wants_reply, limits_.reply_bytes, std::move(target));
  if (!wrong.empty()) return reply->error(rpc_error(kInvalidRequest, wrong));

  const std::string& name = request["method"].get_ref<const std::string&>();
  const Method* method = find(name);
  RequestCount& count = counts_[method != nullptr ? method->name : "unknown"];
  const Responder responder(
      [reply, &count, start = std::chrono::steady_clock::now()](Json result,
                                                                const RpcError* error) {
        ++count.answered;
        count.seconds += seconds_since(start);
        if (error != nullptr) ++count.errors[error->data.value("code", "")];
        error != nullptr ? reply->error(*error) : reply->result(std::move(result));
      },
      client->lane());
  if (method == nullptr) return responder.error(unknown_method(name));
  if (client->caller().role < method->role)
    return responder.error(not_allowed(client->caller(), *method));

  Call call{request.value("params", Json::object()), std::move(files), client};
  if (!call.params.is_object()) {
    return responder.error(
        rpc_error(kInvalidParams, "\"params\" must be an object, found " + describe(call.params)));
  }
  start(*method, std::move(call), responder);
}

void Dispatcher::start(const Method& method, Call call, const Responder& responder) {
  try {
    switch (method.where) {
      case Method::Where::kLoop:
        return responder.result(method.handle(call));
      case Method::Where::kDeferred:
        return method.defer(call, responder);
      case Method::Where::kBackground:
        return start_in_background(method, std::move(call), responder);
    }
  } catch (...) {
    const RpcError error = rpc_error(std::current_exception());
    if (error.code == kInternalError) spdlog::error("{}: {}", method.name, error.message);
    responder.error(error);
  }
}

void Dispatcher::start_in_background(const Method& method, Call call, const Responder& responder) {
  const auto shared = std::make_shared<Call>(std::move(call));
  answer_in_background(background_, responder,
                       [&method, shared] { return method.handle(*shared); });
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
  responder.in_turn([&background, responder, work = std::move(work)](const Lane::Turn& turn) {
    background.submit([responder, turn, work]() -> Background::Done {
      try {
        const auto result = std::make_shared<Json>(work());
        return [result, responder] { responder.result(std::move(*result)); };
      } catch (...) {
        const RpcError error = rpc_error(std::current_exception());
        return [error, responder] { responder.error(error); };
      }
    });
  });
}

}  // namespace moil::daemon
