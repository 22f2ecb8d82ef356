#include "daemon/review/server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "daemon/client/desk.h"
#include "daemon/client/model_desk.h"
#include "daemon/json/base64.h"
#include "daemon/json/parse.h"
#include "daemon/review/assets.h"
#include "daemon/review/gate.h"
#include "daemon/review/line.h"
#include "daemon/review/sound_addresses.h"
#include "datasets/labels/media_type.h"

namespace moil::review {
namespace {

using daemon::ClientSession;
using daemon::ReplyError;
using httplib::Request;
using httplib::Response;
using Pass = httplib::Server::HandlerResponse;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // of a request: 100,000 digests
constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;
constexpr int kDecisionNesting = 8, kPreviewPixels = 384, kLargePixels = 1600;
constexpr const char* kOpenPath = "/api/open";
constexpr const char* kFilePath = "/api/predict";  // its body is a file
constexpr std::size_t kThreads = 16;               // a browser holds six connections open
constexpr std::size_t kKeptOpen = 10'000;          // requests of one connection
constexpr int kIdleSeconds = 1;                    // of a connection; the server ends no sooner

const httplib::Headers kHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; media-src 'self'; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "same-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cache-Control", "no-store"},
};

constexpr const char* kClosed =
    "This page is for the one who opened it, and its address works once. Begin anew with "
    "\"moilctl label review\".\n";
constexpr const char* kClosedPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
constexpr const char* kNoAddress = "this address has ended\n";

constexpr const char* kSecretHeader = "Moil-Review";

Gate::Request shown_by(const Request& request) {
  return {request.get_header_value("Host"), request.get_header_value("Origin"),
          request.get_header_value(kSecretHeader)};
}

void give(Response& response, int status, const Json& json) {
  response.status = status;
  response.set_content(daemon::to_line(json), "application/json");
}

std::string message_of(const std::exception& error) {
  const auto* reply = dynamic_cast<const ReplyError*>(&error);
  return reply != nullptr ? reply->error().value("message", "") : error.what();
}

void give_text(Response& response, int status, std::string_view text, const char* type) {
  response.status = status;
  response.set_content(text.data(), text.size(), type);
}

Json decided(daemon::Desk& desk, const Json& asked) {
  std::vector<daemon::Desk::Decision> decisions;
  for (const Json& one : asked.at("decisions"))
    decisions.push_back({one.at("digests").get<std::vector<std::string>>(),
                         one.at("labels").get<std::vector<std::string>>(),
                         one.value("as_spelled", false)});
  return desk.decide(decisions);
}

// A sample's file in parts, as moild gives it out.
struct Part {
  std::string bytes;
  std::size_t of_all = 0;
};

Part part_of(ClientSession& session, const std::string& digest, std::size_t from) {
  const Json reply = session.call("label.content", {{"digest", digest}, {"offset", from}});
  const auto bytes = daemon::decode_base64(reply.at("content").get<std::string>());
  if (!bytes || bytes->empty()) throw Error(ErrorCode::kIo, "moild gave nothing of the sample");
  return {{bytes->begin(), bytes->end()}, reply.at("bytes")};
}

Json previews(ClientSession& session, const Json& digests, int pixels) {
  return session.call("label.preview", {{"digests", digests}, {"size", pixels}});
}

// Of one whom nobody knows yet, no more is read.
bool is_too_long_to_open(const Request& request) {
  constexpr std::uint64_t kMostOfToken = 4096;
  return request.path == kOpenPath &&
         (request.has_header("Transfer-Encoding") ||
          request.get_header_value<std::uint64_t>("Content-Length") > kMostOfToken);
}

void give_too_long(Response& response) {
  give_text(response, 413, "that is too much for one request\n", "text/plain");
}

// As a page for who came by an address, as text for a script.
void give_closed(const Request& request, Response& response) {
  if (request.method != "GET") return give_text(response, 403, kClosed, "text/plain");
  give_text(response, 403, closed_page(), "text/html; charset=utf-8");
  response.headers.erase("Content-Security-Policy");
  response.set_header("Content-Security-Policy", kClosedPolicy);
}

}  // namespace

struct ReviewServer::Parts {
  Parts(const std::string& socket, std::string model)
      : model_name(std::move(model)), desk(decisions.session) {
    for (Line* line : lines()) line->session.socket = socket;
  }

  using Work = std::function<Json(const Json& asked)>;
  using LongWork = std::function<Json(const daemon::SoFar& so_far)>;

  std::array<Line*, 6> lines() {
    return {&decisions, &pictures, &large, &sounds, &model_line, &home_line};
  }

  void set_up();
  void route();
  Pass at_the_gate(const Request& request, Response& response);
  void call(const std::string& name, Line& line, Work work);
  void stream(const std::string& name, Line& line, LongWork work);
  void predict(const Request& request, Response& response);
  Json doubts(const daemon::SoFar& so_far);
  void open(const Request& request, Response& response);
  void give_address(const Request& request, Response& response);
  void give_sound(const Request& request, Response& response);
  void give_sound(const std::string& digest, Response& response);
  void end();

  httplib::Server http;
  Gate gate;
  SoundAddresses sound_addresses;
  int port = 0;
  std::atomic<bool> begun = false, ended = false, stopping = false, stopped = false;
  // What takes long has a connection of its own, so that decisions do not wait for it.
  Line decisions, pictures, large, sounds, model_line, home_line;
  const std::string model_name;
  daemon::Desk desk;
};

// Before anything of a request but its head is read.
Pass ReviewServer::Parts::at_the_gate(const Request& request, Response& response) {
  const bool is_open_to_all = request.method == "GET" || request.path == kOpenPath;
  const Gate::Request shown = shown_by(request);
  const bool may = is_open_to_all ? Gate::is_meant_for_us(shown) : gate.may_call(shown);
  if (may && !is_too_long_to_open(request)) return Pass::Unhandled;
  if (may)
    give_too_long(response);
  else
    give_closed(request, response);
  return Pass::Handled;
}

void ReviewServer::Parts::open(const Request& request, Response& response) {
  try {
    const Json asked = daemon::parse_json(request.body, kDecisionNesting);
    const auto opened = gate.open(shown_by(request), asked.at("token").get<std::string>());
    if (!opened) return give_text(response, 403, kClosed, "text/plain");
    give(response, 200, {{"secret", opened->secret}, {"token", opened->token}});
  } catch (const std::exception& error) {
    give(response, 400, {{"message", error.what()}});
  }
}

void ReviewServer::Parts::call(const std::string& name, Line& line, Work work) {
  http.Post("/api/" + name, [&line, work](const Request& request, Response& response) {
    if (request.body.size() > kMostBytes) return give_too_long(response);
    try {
      const Json asked = daemon::parse_json(request.body, kDecisionNesting);
      give(response, 200, line.ask([&] { return work(asked); }));
    } catch (const Json::exception& error) {
      give(response, 400, {{"message", error.what()}});
    } catch (const std::exception& error) {
      give(response, 409, {{"message", message_of(error)}});
    }
  });
}

// What takes long is answered by a JSON object a line: what is known so far, and then {"result"}
// or {"message"}. It ends with the page that waits for it.
void ReviewServer::Parts::stream(const std::string& name, Line& line, LongWork work) {
  const auto provide = [this, &line, work](std::size_t, httplib::DataSink& sink) {
    const auto tell = [&sink](const Json& known) {
      const std::string text = daemon::to_line(known) + "\n";
      (void)sink.write(text.data(), text.size());
    };
    try {
      tell({{"result", line.ask([&] { return work(tell); },
                                [&] { return !stopping && sink.is_writable(); })}});
    } catch (const std::exception& error) {
      tell({{"message", message_of(error)}});
    }
    sink.done();
    return true;
  };
  http.Post("/api/" + name, [provide](const Request&, Response& response) {
    response.set_chunked_content_provider("application/x-ndjson", provide);
  });
}

void ReviewServer::Parts::predict(const Request& request, Response& response) {
  try {
    give(response, 200, home_line.ask([&] {
      return daemon::prediction(home_line.session, model_name, request.body);
    }));
  } catch (const std::exception& error) {
    give(response, 409, {{"message", message_of(error)}});
  }
}

Json ReviewServer::Parts::doubts(const daemon::SoFar& so_far) {
  Json found = daemon::doubts(model_line.session, model_name, so_far);
  const std::lock_guard guard(decisions.mutex);
  desk.take_note(found["doubts"]);
  return found;
}

// The file itself, which the browser decodes; a part at a time, for the browser need not want all.
void ReviewServer::Parts::give_sound(const std::string& digest, Response& response) {
  const auto part = [this, digest](std::size_t from) {
    return sounds.ask([&] { return part_of(sounds.session, digest, from); });
  };
  try {
    const auto head = std::make_shared<const Part>(part(0));
    const std::string_view media = data::media_type_of(
        {reinterpret_cast<const std::uint8_t*>(head->bytes.data()), head->bytes.size()});
    if (!data::is_sound(media)) return give_text(response, 404, "it is no sound\n", "text/plain");
    response.set_content_provider(
        head->of_all, std::string(media),
        [part, head](std::size_t from, std::size_t count, httplib::DataSink& sink) {
          try {
            const bool is_head = from < head->bytes.size();
            const std::string bytes = is_head ? head->bytes.substr(from) : part(from).bytes;
            return sink.write(bytes.data(), std::min(count, bytes.size()));
          } catch (const std::exception&) {
            return false;  // the connection ends
          }
        });
  } catch (const std::exception& error) {
    give_text(response, 404, std::string(error.what()) + "\n", "text/plain");
  }
}

void ReviewServer::Parts::give_address(const Request& request, Response& response) {
  try {
    const Json asked = daemon::parse_json(request.body, kDecisionNesting);
    const std::string name = sound_addresses.issue(asked.at("digest").get<std::string>());
    give(response, 200, {{"address", "/sound/" + name}});
  } catch (const std::exception& error) {
    give(response, 400, {{"message", error.what()}});
  }
}

void ReviewServer::Parts::give_sound(const Request& request, Response& response) {
  const auto digest = sound_addresses.sound_of(request.matches[1]);
  if (!digest) return give_text(response, 403, kNoAddress, "text/plain");
  give_sound(*digest, response);
}

// Decisions come to their end; what the model says may take minutes, and nobody waits for it.
void ReviewServer::Parts::end() {
  stopping = true;
  for (Line* line : lines())
    if (line != &decisions) line->end();
  if (!stopped.exchange(true)) http.stop();  // the library takes it once
}

void ReviewServer::Parts::set_up() {
  http.set_default_headers(kHeaders);
  http.set_payload_max_length(kMostFileBytes);
  http.set_keep_alive_max_count(kKeptOpen);
  http.set_keep_alive_timeout(kIdleSeconds);
  http.set_tcp_nodelay(true);
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // httplib's to delete
  // Another process that listens on the port must not share it.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    return at_the_gate(request, response);
  });
}

void ReviewServer::Parts::route() {
  for (const Asset& asset : assets())
    http.Get(asset.path, [asset](const Request&, Response& response) {
      give_text(response, 200, asset.text, asset.type);
    });
  http.Post(kOpenPath,
            [this](const Request& request, Response& response) { open(request, response); });
  http.Get("/sound/([0-9a-f]+)",
           [this](const Request& request, Response& response) { give_sound(request, response); });
  call("samples", decisions, [this](const Json& asked) {
    return desk.samples(asked.at("unlabelled").get<bool>(), asked.at("after").get<std::int64_t>());
  });
  call("labels", decisions, [this](const Json&) { return desk.labels(); });
  call("decide", decisions, [this](const Json& asked) { return decided(desk, asked); });
  call("undo", decisions, [this](const Json&) { return desk.undo(); });
  call("previews", pictures, [this](const Json& asked) {
    return previews(pictures.session, asked.at("digests"), kPreviewPixels);
  });
  call("large", large, [this](const Json& asked) {
    return previews(large.session, Json::array({asked.at("digest")}), kLargePixels);
  });
  stream("proposals", model_line, [this](const daemon::SoFar& so_far) {
    return daemon::proposals(model_line.session, model_name, so_far);
  });
  stream("doubts", model_line, [this](const daemon::SoFar& so_far) { return doubts(so_far); });
  call("home", home_line,
       [this](const Json&) { return daemon::home(home_line.session, model_name); });
  call("learn", home_line,
       [this](const Json&) { return daemon::learn(home_line.session, model_name); });
  http.Post(kFilePath,
            [this](const Request& request, Response& response) { predict(request, response); });
  // Not moild's business, who may be away.
  http.Post("/api/sound", [this](const Request& request, Response& response) {
    give_address(request, response);
  });
  http.Post("/api/end", [this](const Request&, Response& response) {
    {
      const std::lock_guard decided(decisions.mutex);
      give(response, 200, Json::object());
    }
    end();
  });
}

ReviewServer::ReviewServer(const std::string& moild_socket, const std::string& model)
    : parts_(std::make_unique<Parts>(moild_socket, model)) {
  parts_->set_up();
  parts_->route();
}

ReviewServer::~ReviewServer() = default;

int ReviewServer::bind(int port) {
  Parts& p = *parts_;
  const char* const loopback = "127.0.0.1";
  const bool bound = port == 0 ? (p.port = p.http.bind_to_any_port(loopback)) > 0
                               : p.http.bind_to_port(loopback, p.port = port);
  if (!bound)
    throw Error(ErrorCode::kIo, "cannot listen on port " + std::to_string(port) +
                                    " of 127.0.0.1; another program may have it: choose another "
                                    "with --port");
  return p.port;
}

std::string ReviewServer::address() const {
  return "http://127.0.0.1:" + std::to_string(parts_->port) + "/#" + parts_->gate.token();
}

void ReviewServer::serve() {
  parts_->begun = true;
  if (!parts_->stopping) parts_->http.listen_after_bind();
  parts_->ended = true;
}

// The library forgets a stop that comes before it listens.
void ReviewServer::stop() {
  parts_->stopping = true;
  while (parts_->begun && !parts_->ended && !parts_->http.is_running())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  parts_->end();
}

}  // namespace moil::review
