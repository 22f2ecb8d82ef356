#include "tests/daemon/support/test_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <fstream>

#include "daemon/methods/methods.h"
#include "daemon/rpc/address.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace moil::daemon::test {

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "moild-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw system_error("mkdtemp", errno);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Config quick_config() {
  Config config;
  config.worker.path = FAKE_WORKER;
  config.worker.backoff_seconds = 0.01;
  config.worker.stop_seconds = 2;
  config.worker.nice = 0;
  config.worker.threads = 1;
  config.poll_seconds = 0.02;
  return config;
}

TestServer::TestServer(const fs::path& state, Config config) : socket_(state) {
  socket_ += ".sock";
  // Built in the thread that runs it: workers die with the thread that started them.
  std::exception_ptr failure;
  std::atomic<bool> ready = false;
  thread_ = std::thread([&, config] {
    try {
      service_ = std::make_unique<Service>(loop_, config, state, socket_, world, all_methods);
    } catch (...) {
      failure = std::current_exception();
    }
    const bool failed = failure != nullptr;
    ready = true;
    ready.notify_one();
    if (!failed) loop_.run();
    service_.reset();
  });
  ready.wait(false);
  if (!failure) return;
  thread_.join();
  std::rethrow_exception(failure);
}

TestServer::~TestServer() {
  loop_.post([this] { service_->shut_down([this] { loop_.stop(); }); });
  thread_.join();
}

Line::Line(const fs::path& socket) : socket_(connect_to(socket)) {}

void Line::send(const std::string& text) const {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0) return;  // the server hung up: what it said is there to be read
    sent += static_cast<std::size_t>(n);
  }
}

bool Line::fill(std::chrono::milliseconds time) {
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(time.count())) <= 0) {
    ADD_FAILURE() << "the server did not answer in time";
    return false;
  }
  char chunk[1 << 16];
  const ssize_t n = ::read(socket_.get(), chunk, sizeof chunk);
  if (n > 0) buffer_.append(chunk, static_cast<std::size_t>(n));
  return n > 0;
}

Json Line::read() {
  for (;;) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      Json message = parsed_json(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      return message;
    }
    if (!fill(10s)) return nullptr;
  }
}

bool Line::is_closed_within(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  char chunk[1 << 16];
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 20) > 0 && ::read(socket_.get(), chunk, sizeof chunk) <= 0) return true;
  }
  return false;
}

std::string request_line(const std::string& method, const Json& params, int id) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

Json ask(const fs::path& socket, const std::string& method, const Json& params) {
  Line line(socket);
  line.send(request_line(method, params));
  return line.read();
}

Json result_of(const fs::path& socket, const std::string& method, const Json& params) {
  const Json reply = ask(socket, method, params);
  EXPECT_TRUE(reply.contains("result")) << method << ": " << reply.dump();
  return reply.value("result", Json::object());
}

void import_model(const TestServer& server, const std::string& name) {
  const TempFolder folder;
  std::ofstream(folder / "model.json") << "{}";
  result_of(server.socket(), "model.import", {{"name", name}, {"path", folder.path().string()}});
}

Json job_named(const std::string& name, const fs::path& pack) {
  return {{"name", name},
          {"model", "digits"},
          {"settings", "defaults"},
          {"global", {{"pack", pack.string()}}}};
}

std::int64_t submit(const fs::path& socket, const std::string& name, bool now) {
  const Json reply =
      result_of(socket, "job.submit", {{"job", job_named(name, socket)}, {"now", now}});
  return reply.value("id", std::int64_t{0});
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

Json wait_for(const fs::path& socket, std::int64_t id, const std::string& state) {
  Json job;
  const bool reached = eventually([&] {
    job = result_of(socket, "job.get", {{"id", id}})["job"];
    return job["state"] == state;
  });
  EXPECT_TRUE(reached) << "job " << id << " did not become " << state << ": " << job.dump();
  return job;
}

}  // namespace moil::daemon::test
