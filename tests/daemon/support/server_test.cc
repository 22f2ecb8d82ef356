#include "tests/daemon/support/server_test.h"

#include <fstream>

#include "daemon/json/base64.h"

namespace moil::daemon::test {

Json Asking::ask(const std::string& method, const Json& params) const {
  return test::ask(socket(), method, params);
}

Json Asking::call(const std::string& method, const Json& params) const {
  return result_of(socket(), method, params);
}

std::string Asking::error_of(const std::string& method, const Json& params) const {
  return ask(method, params).value("/error/data/code"_json_pointer, std::string("none"));
}

std::string Asking::complaint(const std::string& method, const Json& params) const {
  return ask(method, params).value("/error/message"_json_pointer, std::string());
}

std::vector<std::string> Asking::pointers(const std::string& method, const Json& params) const {
  std::vector<std::string> found;
  const Json reply = ask(method, params);
  for (const Json& error : reply.value("/error/data/errors"_json_pointer, Json::array()))
    found.push_back(error["pointer"]);
  return found;
}

std::int64_t Asking::submit(const std::string& name, bool now) const {
  return test::submit(socket(), name, now);
}

Json Asking::wait_for(std::int64_t id, const std::string& state) const {
  return test::wait_for(socket(), id, state);
}

Json Asking::run_job(const std::string& name, const std::string& state) const {
  return wait_for(submit(name), state);
}

void Asking::wait_for_training(std::int64_t id) const {
  EXPECT_TRUE(eventually([&] {
    const Json progress = job(id)["progress"];
    return progress.is_object() && progress["stage"] == "train";
  }));
}

void Asking::let_go() const { std::ofstream(state() / "go") << "go"; }

Json Asking::version(int number, const std::string& model) const {
  return call("model.get", {{"model", model}, {"version", number}});
}

Json Asking::add(const std::string& label, const std::string& content) const {
  return call("label.add",
              {{"labels", {label}},
               {"samples", {{{"content", encode_base64(photo(content))}}}}})["samples"][0];
}

}  // namespace moil::daemon::test
