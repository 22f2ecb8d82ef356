// What the model tells of the labels: whose work it is, and how long it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "daemon/json/base64.h"
#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

class Studies : public ServerTest {
 protected:
  Studies() {
    import_model(server_);
    hold();
  }
  ~Studies() override { let_go(); }

  // Workers wait before they tell anything.
  void hold() const { std::ofstream(state() / "hold-studies") << "yes"; }
  void let_go() const { std::filesystem::remove(state() / "hold-studies"); }

  std::unique_ptr<Line> ask_for(const std::string& method, Json params = Json::object()) const {
    params["model"] = "digits";
    auto client = std::make_unique<Line>(server_.socket());
    client->send(request_line(method, params));
    return client;
  }
  // The workers that were started for studies, in their order.
  std::vector<pid_t> workers() const {
    std::vector<pid_t> found;
    std::ifstream in(state() / "studies");
    for (pid_t pid = 0; in >> pid;) found.push_back(pid);
    return found;
  }
  bool are_started(std::size_t count) const {
    return eventually([&] { return workers().size() >= count; });
  }
  // What was sent is taken.
  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
  static bool runs(pid_t worker) { return ::kill(worker, 0) == 0; }
};

TEST_F(Studies, TwoAskersShareTheWork) {
  for (const char* method : {"label.suggest", "label.audit"}) {
    const std::size_t before = workers().size();
    hold();
    const auto one = ask_for(method);
    ASSERT_TRUE(are_started(before + 1));
    const auto two = ask_for(method);
    settle();
    let_go();
    const Json first = one->read(), second = two->read();
    EXPECT_TRUE(first.contains("result")) << first;
    EXPECT_EQ(first, second);
    EXPECT_EQ(workers().size(), before + 1) << method;
  }
}

TEST_F(Studies, TellHowFarTheyAreToWhoAsksForIt) {
  for (const char* method : {"label.suggest", "label.audit", "label.meanings"}) {
    hold();
    const std::size_t before = workers().size();
    const auto told = ask_for(method, {{"progress", true}});
    ASSERT_TRUE(are_started(before + 1)) << method;
    const auto untold = ask_for(method);
    const Json notification = told->read();
    EXPECT_EQ(notification["method"], "label.progress") << notification;
    EXPECT_EQ(notification["params"], (Json{{"stage", "cache"}, {"done", 16}, {"total", 1000}}));
    if (std::string(method) == "label.suggest") {
      const Json found = told->read();
      EXPECT_EQ(found["method"], "label.suggested") << "before all of it is";
      EXPECT_EQ(found["params"]["suggestions"].size(), 1U) << found;
    }
    settle();
    let_go();
    EXPECT_TRUE(told->read().contains("result")) << method;
    EXPECT_TRUE(untold->read().contains("result")) << "nothing came before";
  }
}

TEST_F(Studies, OtherQuestionsAndOtherLabelsAreOtherWork) {
  const auto one = ask_for("label.suggest");
  ASSERT_TRUE(are_started(1));
  add("cat", "one");
  const auto two = ask_for("label.suggest");
  ASSERT_TRUE(are_started(2)) << "it is asked of a sample more";
  let_go();
  EXPECT_TRUE(one->read().contains("result"));
  EXPECT_TRUE(two->read().contains("result"));
}

TEST_F(Studies, AnAnswerIsGivenAgainUntilAnythingOfItChanges) {
  let_go();
  std::string cat;
  const std::vector<std::pair<const char*, std::function<void()>>> changes = {
      {"a sample", [&] { cat = add("cat", "one")["digest"]; }},
      {"an unlabelled one",
       [&] {
         const Json two = {{"content", encode_base64(photo("two"))}};
         call("label.add", {{"labels", Json::array()}, {"samples", Json::array({two})}});
       }},
      {"a label",
       [&] {
         call("label.assign", {{"samples", Json::array({cat})}, {"label", "dog"}});
       }},
      {"a name",
       [&] {
         call("label.rename", {{"from", "dog"}, {"to", "hound"}});
       }},
      {"a sample less",
       [&] {
         call("label.forget", {{"digest", cat}});
       }},
      {"another model", [&] { import_model(server_); }},
  };
  for (const char* method : {"label.suggest", "label.audit", "label.meanings"}) {
    const Json first = ask_for(method)->read();
    EXPECT_TRUE(first.contains("result")) << first;
    const std::size_t begun = workers().size();
    EXPECT_EQ(ask_for(method)->read(), first);
    EXPECT_EQ(workers().size(), begun) << method << " was known";
  }
  for (const auto& [what, change] : changes) {
    const std::size_t begun = workers().size();
    change();
    EXPECT_TRUE(ask_for("label.audit")->read().contains("result"));
    EXPECT_EQ(workers().size(), begun + 1) << what;
  }
}

TEST_F(Studies, TheWorkEndsWithItsLastAsker) {
  auto one = ask_for("label.suggest");
  ASSERT_TRUE(are_started(1));
  auto two = ask_for("label.suggest");
  settle();
  const pid_t worker = workers().front();
  one.reset();
  settle();
  EXPECT_TRUE(runs(worker)) << "the other one waits for it";
  two.reset();
  EXPECT_TRUE(eventually([&] { return !runs(worker); }));
  // What is asked afterwards begins anew.
  const auto three = ask_for("label.suggest");
  ASSERT_TRUE(are_started(2));
  let_go();
  EXPECT_TRUE(three->read().contains("result"));
}

}  // namespace
}  // namespace moil::daemon::test
