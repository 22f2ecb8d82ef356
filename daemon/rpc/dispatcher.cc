#include "daemon/rpc/dispatcher.h"

#include <spdlog/spdlog.h>

#include "daemon/json/parse.h"

namespace moil::daemon {

// Collects the replies of one line and sends them when all are there.
class Dispatcher::Replies {
 public:
  Replies(const std::shared_ptr<Connection>& client, bool batch) : client_(client), batch_(batch) {
    client->begin_request();
  }
  ~Replies() {
    const auto client = client_.lock();
    if (!client) return;
    if (batch_ && !list_.empty()) client->send(to_line(list_));
    if (!batch_ && !list_.empty()) client->send(to_line(list_[0]));
    client->end_request();
  }
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  void add(Json reply) { list_.push_back(std::move(reply)); }

 private:
  std::weak_ptr<Connection> client_;
  bool batch_;
  Json list_ = Json::array();
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

Json id_of(const Json& request) {
  if (!request.is_object() || !request.contains("id") || !is_id(request["id"])) return nullptr;
  return request["id"];
}

}  // namespace

Dispatcher::Dispatcher(const MethodTable& methods, Background& background, const Limits& limits)
    : methods_(methods), background_(background), limits_(limits) {}

void Dispatcher::line(const std::shared_ptr<Connection>& client, const std::string& line,
                      std::vector<UniqueFd> files) {
  Json document;
  try {
    document = parse_json(line, limits_.nesting);
  } catch (const Error& error) {
    client->send(to_line(error_reply(nullptr, rpc_error(kParseError, error.what()))));
    return;
  }
  const bool batch = document.is_array();
  const auto replies = std::make_shared<Replies>(client, batch);
  if (!batch) return request(client, document, std::move(files), replies);
  if (document.empty() || document.size() > limits_.batch) {
    const std::string text = "a batch must hold 1 to " + std::to_string(limits_.batch) +
                             " requests, found " + std::to_string(document.size());
    client->send(to_line(error_reply(nullptr, rpc_error(kInvalidRequest, text))));
    return;
  }
  for (const Json& item : document) request(client, item, {}, replies);
}

void Dispatcher::request(const std::shared_ptr<Connection>& client, const Json& request,
                         std::vector<UniqueFd> files, const std::shared_ptr<Replies>& replies) {
  const Json id = id_of(request);
  const std::string wrong = complaint(request);
  if (!wrong.empty()) return replies->add(error_reply(id, rpc_error(kInvalidRequest, wrong)));

  const bool wants_reply = request.contains("id");
  const Responder responder([replies, id, wants_reply](Json result, const RpcError* error) {
    if (!wants_reply) return;
    replies->add(error != nullptr
                     ? error_reply(id, *error)
                     : Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  });
  const std::string& name = request["method"].get_ref<const std::string&>();
  const Method* method = find(name);
  if (method == nullptr) return responder.error(unknown_method(name));

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

Json error_reply(const Json& id, const RpcError& error) {
  Json body{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

std::string notification(const std::string& method, const Json& params) {
  return to_line({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

std::string to_line(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace moil::daemon
