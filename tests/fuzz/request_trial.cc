#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "daemon/json/parse.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/spec/recurring_spec.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using namespace daemon;
using Lane = Method::Lane;

Limits small_limits() {
  Limits limits;
  limits.request_bytes = 4096;
  limits.output_bytes = 8192;
  limits.in_flight = 8;
  limits.batch = 20;
  limits.requests_per_second = 1e6;  // what waits would only take time here
  return limits;
}

// Answers later.
void answer_soon(EventLoop& loop, const Call& call, const Responder& responder) {
  loop.post([params = call.params, responder] { responder.result(params); });
}

// A method of each sort, and the two largest field tables of the protocol.
MethodTable methods(EventLoop& loop) {
  const auto soon = [&loop](const Call& call, const Responder& responder) {
    answer_soon(loop, call, responder);
  };
  const auto job = [](Call& call) { return to_json(job_spec_from_json(call.params)); };
  const auto schedule = [](Call& call) {
    return to_json(read_fields<RecurringSpec>(call.params, "the schedule"));
  };
  return {
      {"echo", "0", Role::kRead, "", Lane::kLoop, [](Call& call) { return call.params; }},
      {"slow", "0", Role::kRead, "", Lane::kSteps, soon},
      {"drop", "0", Role::kRead, "", Lane::kSteps, [](Call&, const Responder&) {}},
      {"job", "0", Role::kOperate, "", Lane::kLoop, job},
      {"schedule", "0", Role::kOperate, "", Lane::kLoop, schedule},
  };
}

// A thread a request would be most of what a fuzzer does; no method here needs it.
Background& no_background() {
  static EventLoop loop;
  static Background background(loop);
  return background;
}

// A connection that was sent the bytes and told that no more come, until it closes.
class Exchange {
 public:
  explicit Exchange(std::span<const std::uint8_t> bytes)
      : limits_(small_limits()),
        methods_(methods(loop_)),
        workers_(loop_),
        tasks_(loop_),
        dispatcher_(methods_, {loop_, no_background(), no_background(), workers_}, limits_,
                    counts_) {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
            "there are sockets");
    ours_ = UniqueFd(ends[0]);
    connection_ = std::make_shared<Connection>(loop_, tasks_, UniqueFd(ends[1]),
                                               Caller{0, Role::kAdmin}, limits_, callbacks());
    connection_->open();
    const auto size = static_cast<ssize_t>(bytes.size());
    require(::send(ours_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == size,
            "a socket takes what a fuzzer makes");
    ::shutdown(ours_.get(), SHUT_WR);
    loop_.watch(ours_.get(), EPOLLIN, [this](std::uint32_t) { read(); });
    loop_.run();
    loop_.unwatch(ours_.get());
  }

  const std::string& replies() const { return replies_; }

 private:
  Connection::Callbacks callbacks() {
    return {.line = [this](const auto& client, const std::string& line,
                           auto files) { dispatcher_.line(client, line, std::move(files)); },
            .too_long =
                [](const auto& client) {
                  client->send(to_line(error_reply(nullptr, rpc_error(kInvalidRequest, "long"))));
                  client->hang_up();
                },
            .drained = nullptr,
            .closed = nullptr};
  }

  // The daemon's side closes when all is answered.
  void read() {
    char chunk[1 << 16];
    const ssize_t n = ::recv(ours_.get(), chunk, sizeof chunk, 0);
    if (n > 0) replies_.append(chunk, static_cast<std::size_t>(n));
    if (n == 0) loop_.stop();
  }

  const Limits limits_;
  EventLoop loop_;
  const MethodTable methods_;
  RequestCounts counts_;
  UserTurns workers_;
  UserTasks tasks_;
  Dispatcher dispatcher_;
  UniqueFd ours_;
  std::shared_ptr<Connection> connection_;
  std::string replies_;
};

// The ids of the replies that the lines have a right to, as text; null if none can be told.
class Promised {
 public:
  explicit Promised(std::string_view bytes) {
    const Limits limits = small_limits();
    while (!cut_off_) {
      const std::size_t end = bytes.find('\n');
      if (std::min(end, bytes.size()) > limits.request_bytes) {
        add(nullptr);
        cut_off_ = true;
      }
      if (end == std::string_view::npos) return;
      if (!cut_off_) line(bytes.substr(0, end), limits);
      bytes.remove_prefix(end + 1);
    }
  }

  // Whether a line was too long: what is under way then may go without a reply.
  bool cut_off() const { return cut_off_; }
  std::vector<std::string> ids() const { return ids_; }

 private:
  void add(const Json& id) { ids_.push_back(to_line(id)); }

  void line(std::string_view text, const Limits& limits) {
    if (text.empty() || text == "\r") return;
    Json document;
    if (!accepts([&] { document = parse_json(text, limits.nesting); })) return add(nullptr);
    if (!document.is_array()) return request(document);
    if (document.empty() || document.size() > limits.batch) return add(nullptr);
    for (const Json& item : document) request(item);
  }

  void request(const Json& request) {
    const Json id = request.is_object() ? request.value("id", Json()) : Json();
    const bool has_id = request.is_object() && request.contains("id");
    const bool good_id = id.is_string() || id.is_number() || id.is_null();
    const bool is_request = request.is_object() && request.contains("jsonrpc") &&
                            request["jsonrpc"] == "2.0" && request.contains("method") &&
                            request["method"].is_string() && good_id;
    if (has_id || !is_request) add(good_id ? id : Json());
  }

  std::vector<std::string> ids_;
  bool cut_off_ = false;
};

void take_reply(const Json& reply, std::vector<std::string>& ids) {
  require(reply.is_object() && reply.value("jsonrpc", "") == "2.0" && reply.contains("id"),
          "a reply is one");
  require(reply.contains("result") != reply.contains("error"), "a reply is a result or an error");
  if (reply.contains("error")) {
    const Json& error = reply["error"];
    require(error.is_object() && error["code"].is_number_integer() && error["message"].is_string(),
            "an error has a code and a message");
  }
  ids.push_back(to_line(reply["id"]));
}

std::vector<std::string> ids_of(std::string_view replies) {
  std::vector<std::string> ids;
  while (!replies.empty()) {
    const std::size_t end = replies.find('\n');
    require(end != std::string_view::npos, "a reply is a line");
    const Json document = json_or_discarded(replies.substr(0, end));
    require(!document.is_discarded(), "a reply is JSON");
    replies.remove_prefix(end + 1);
    if (!document.is_array()) {
      take_reply(document, ids);
      continue;
    }
    require(!document.empty(), "a batch that has no reply is not answered");
    for (const Json& reply : document) take_reply(reply, ids);
  }
  return ids;
}

}  // namespace

bool try_request(std::span<const std::uint8_t> bytes) {
  spdlog::set_level(spdlog::level::off);
  const Exchange exchange(bytes);
  const Promised promised(text_of(bytes));
  auto found = ids_of(exchange.replies()), wanted = promised.ids();
  std::ranges::sort(found);
  std::ranges::sort(wanted);
  if (promised.cut_off())
    require(std::ranges::includes(wanted, found), "no reply is made twice");
  else
    require(found == wanted, "every request has its reply");
  return exchange.replies().find("\"result\"") != std::string::npos;
}

}  // namespace moil::test
