#include "daemon/rpc/reply.h"

#include "daemon/log/log.h"

namespace moil::daemon {
namespace {

RpcError too_large(std::size_t bytes, std::size_t most) {
  return rpc_error(std::make_exception_ptr(
      Error(ErrorCode::kResourceExhausted, "the reply would have " + std::to_string(bytes) +
                                               " bytes, the limit is " + std::to_string(most) +
                                               "; ask for less (\"limit\", \"details\": false)")));
}

RpcError unanswered() {
  return rpc_error(std::make_exception_ptr(
      Error(ErrorCode::kCancelled,
            "the request was given up: the daemon stops, or its log says what went wrong")));
}

}  // namespace

Reply::Reply(Json id, bool wanted, std::size_t most_bytes, std::unique_ptr<ReplyTarget> target)
    : id_(std::move(id)), open_(wanted), most_bytes_(most_bytes), target_(std::move(target)) {}

Reply::~Reply() {
  try {
    error(unanswered());
  } catch (const std::exception& failure) {
    log_error("a request cannot be answered: {}", failure.what());
  }
}

void Reply::result(Json value) {
  if (!open_) return;
  const std::string text = to_line({{"jsonrpc", "2.0"}, {"id", id_}, {"result", std::move(value)}});
  if (text.size() > most_bytes_) return error(too_large(text.size(), most_bytes_));
  put(text);
}

void Reply::error(const RpcError& error) {
  if (open_) put(to_line(error_reply(id_, error)));
}

void Reply::put(const std::string& text) {
  open_ = false;
  target_->put(text);
}

Json error_reply(const Json& id, const RpcError& error) {
  Json body{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

std::string notification(const std::string& method, const Json& params) {
  return to_line({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

}  // namespace moil::daemon
