// A test against a server, with short words for what is asked of it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {

class Asking : public ::testing::Test {
 protected:
  virtual const TestServer& server() const = 0;
  const std::filesystem::path& socket() const { return server().socket(); }
  std::filesystem::path state() const { return folder_ / "state"; }

  // The whole reply; its result, which must be there; the code of its error, or "none"; what the
  // error says; where the parameters are wrong.
  Json ask(const std::string& method, const Json& params = Json::object()) const;
  Json call(const std::string& method, const Json& params = Json::object()) const;
  std::string error_of(const std::string& method, const Json& params = Json::object()) const;
  std::string complaint(const std::string& method, const Json& params = Json::object()) const;
  std::vector<std::string> pointers(const std::string& method, const Json& params) const;

  std::int64_t submit(const std::string& name, bool now = true) const;
  Json job(std::int64_t id) const { return call("job.get", {{"id", id}})["job"]; }
  Json wait_for(std::int64_t id, const std::string& state = "succeeded") const;
  // Submits a job at once; the job when it has come to that state.
  Json run_job(const std::string& name, const std::string& state = "succeeded") const;
  // Until the worker of a slow job has begun to train.
  void wait_for_training(std::int64_t id) const;
  // Workers of slow jobs go on to their end.
  void let_go() const;
  // 0: the active one.
  Json version(int number = 0, const std::string& model = "digits") const;
  // What label.add says of a photo.
  Json add(const std::string& label, const std::string& content) const;

  TempFolder folder_;
};

class ServerTest : public Asking {
 protected:
  explicit ServerTest(const Config& config = quick_config()) : server_(state(), config) {}
  const TestServer& server() const override { return server_; }
  TestServer server_;
};

// Its server is started by the test, and may be started again.
class StartedTest : public Asking {
 protected:
  const TestServer& server() const override { return *server_; }
  void start(const Config& config = quick_config()) {
    server_.reset();
    server_.emplace(state(), config);
  }
  std::optional<TestServer> server_;
};

}  // namespace moil::daemon::test
