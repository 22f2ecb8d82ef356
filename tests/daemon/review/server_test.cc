// The review's server by hand-made requests, before a moild.
#include "daemon/review/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files/unique_fd.h"
#include "daemon/review/assets.h"
#include "tests/daemon/client/samples_fixture.h"

namespace moil::review {
namespace {

using daemon::Labels;
using ::testing::HasSubstr;
using ::testing::Not;

class Review : public daemon::SamplesTest {
 protected:
  Review() : server_(moild_.socket()) {
    port_ = server_.bind(0);
    thread_ = std::thread([this] { server_.serve(); });
    http_ = std::make_unique<httplib::Client>("127.0.0.1", port_);
  }
  ~Review() override {
    server_.stop();
    thread_.join();
  }
  std::string token() const {
    const std::string address = server_.address();
    return address.substr(address.find('#') + 1);
  }
  std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // What the page does first; what is asked from then on shows its secret.
  void open() {
    const auto opened = http_->Post("/api/open", {{"Origin", origin()}},
                                    Json{{"token", token()}}.dump(), "application/json");
    ASSERT_TRUE(opened);
    ASSERT_EQ(opened->status, 200);
    EXPECT_FALSE(opened->has_header("Set-Cookie")) << "it would go to all servers of the machine";
    headers_ = {{"Moil-Review", parsed_json(opened->body)["secret"]}, {"Origin", origin()}};
  }
  int open_status(const std::string& token, const httplib::Headers& headers) {
    return post_status("/api/open", Json{{"token", token}}.dump(), headers);
  }
  int status(const std::string& path, const httplib::Headers& headers) {
    const auto reply = http_->Get(path, headers);
    return reply ? reply->status : 0;
  }
  int post_status(const std::string& path, const std::string& body,
                  const httplib::Headers& headers) {
    const auto reply = http_->Post(path, headers, body, "application/json");
    return reply ? reply->status : 0;
  }
  Json call(const std::string& name, const Json& body = Json::object(), int status = 200) {
    const auto reply = http_->Post("/api/" + name, headers_, body.dump(), "application/json");
    if (!reply) return "no reply";
    EXPECT_EQ(reply->status, status) << reply->body;
    return parsed_json(reply->body);
  }
  Json unlabelled() { return call("samples", {{"unlabelled", true}, {"after", 0}})["samples"]; }
  static Json decision(const std::vector<std::string>& digests, const Json& label) {
    return {{"digests", digests}, {"labels", label.is_null() ? Json::array() : Json{label}}};
  }

  ReviewServer server_;
  int port_ = 0;
  std::thread thread_;
  std::unique_ptr<httplib::Client> http_;
  httplib::Headers headers_;
};

TEST_F(Review, NobodyComesInWithoutTheTokenOrTheSecret) {
  const httplib::Headers ours{{"Origin", origin()}};
  for (const char* name : {"samples", "labels", "previews", "large", "decide", "undo", "home",
                           "learn", "predict", "proposals", "doubts", "sound", "end"}) {
    const std::string path = std::string("/api/") + name;
    EXPECT_EQ(post_status(path, "{}", ours), 403) << path;
    EXPECT_EQ(post_status(path, "{}", {{"Origin", origin()}, {"Moil-Review", token()}}), 403)
        << path;
    EXPECT_EQ(post_status(path, "{}", {{"Origin", origin()}, {"Cookie", "Moil-Review=" + token()}}),
              403)
        << path;
  }
  for (const std::string& wrong : {std::string(), std::string("0"), token() + "0"})
    EXPECT_EQ(open_status(wrong, ours), 403);
  EXPECT_EQ(open_status(token(), {}), 403);
  EXPECT_EQ(open_status(token(), {{"Origin", "http://localhost:1"}}), 403);
  EXPECT_EQ(open_status(token(), {{"Origin", "http://evil.example"}, {"Host", "evil.example"}}),
            403);
  EXPECT_EQ(post_status("/api/open", "{", ours), 400);
  EXPECT_EQ(status("/", {{"Host", "evil.example"}}), 403);
  EXPECT_EQ(http_->Head("/")->status, 403);
  EXPECT_EQ(status("/sound/0", {}), 403);
  const std::string once = token();
  open();  // none of these used it up
  EXPECT_EQ(open_status(once, ours), 403);
  EXPECT_EQ(post_status("/api/labels", "{}", headers_), 200);
  open();  // the page is loaded again, with what it got
  EXPECT_EQ(post_status("/api/labels", "{}", headers_), 200);
}

TEST_F(Review, WhoMayNotSeeThePageSeesOneThatSaysSo) {
  const auto closed = http_->Get("/", {{"Host", "evil.example"}});
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->status, 403);
  EXPECT_EQ(closed->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(closed->get_header_value_count("Content-Security-Policy"), 1U);
  EXPECT_THAT(closed->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(closed->body, HasSubstr("moilctl label review"));
  for (const char* loads : {"<script", "http://", "https://", "url(", "src="})
    EXPECT_THAT(closed->body, Not(HasSubstr(loads)));
}

TEST_F(Review, OtherPagesOfTheBrowserMayNotCall) {
  open();
  const std::string secret = headers_.find("Moil-Review")->second;
  const std::string all = R"({"unlabelled": true, "after": 0})";
  EXPECT_EQ(post_status("/api/samples", all, {{"Moil-Review", secret}}), 403);
  EXPECT_EQ(
      post_status("/api/samples", all, {{"Moil-Review", secret}, {"Origin", "http://localhost:1"}}),
      403);
  EXPECT_EQ(post_status("/api/samples", all, headers_), 200);
  EXPECT_EQ(status("/api/samples", headers_), 404);
  EXPECT_EQ(http_->Options("/api/samples", headers_)->status, 404);
  EXPECT_EQ(http_->Options("/api/samples", {{"Origin", origin()}})->status, 403);
}

TEST_F(Review, ThePageLoadsNothingFromElsewhereAndIsNotKept) {
  open();
  const auto page = http_->Get("/");  // it holds no data
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"),
              HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_FALSE(page->has_header("Access-Control-Allow-Origin"));
  for (const Asset& asset : assets()) {
    const char* const path = asset.path;
    const auto part = http_->Get(path);
    EXPECT_EQ(part->status, 200);
    EXPECT_THAT(part->body, Not(HasSubstr(headers_.find("Moil-Review")->second))) << path;
    for (const char* loads : {"http://", "https://", "url(", "innerHTML", "eval("})
      EXPECT_THAT(part->body, Not(HasSubstr(loads))) << path;
  }
}

TEST_F(Review, WhatIsNoRequestIsTold) {
  open();
  EXPECT_EQ(status("/../../etc/passwd", headers_), 404);
  EXPECT_EQ(status("/%2e%2e/etc/passwd", headers_), 404);
  EXPECT_EQ(post_status("/api/nothing", "{}", headers_), 404);
  for (const char* body :
       {"", "{", "[]", "7", "{\"unlabelled\": 7, \"after\": 0}", "{\"after\": 0}"})
    EXPECT_THAT(post_status("/api/samples", body, headers_), ::testing::AnyOf(400, 409)) << body;
  EXPECT_THAT(post_status("/api/samples", std::string(100, '[') + std::string(100, ']'), headers_),
              ::testing::AnyOf(400, 409));
  EXPECT_EQ(post_status("/api/samples", std::string(5 << 20, ' '), headers_), 413);
  EXPECT_EQ(call("samples", {{"unlabelled", true}, {"after", 0}})["samples"], Json::array());
}

TEST_F(Review, SoundsAreGivenAsWhatTheyAreAndInRanges) {
  open();
  std::string wav("RIFF\0\0\0\0WAVE", 12);
  while (wav.size() < 400'000) wav += std::to_string(wav.size());
  const std::string sound = add_file(wav), photo = add("one");
  const auto at = [&](const std::string& digest) -> std::string {
    return call("sound", {{"digest", digest}})["address"];
  };
  const std::string address = at(sound);
  EXPECT_EQ(status("/sound/" + sound, headers_), 403) << "no digest leads to a sound";
  EXPECT_EQ(status(address + "0", headers_), 403);
  const auto whole = http_->Get(address);  // as a player asks for it
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->status, 200);
  EXPECT_EQ(whole->body, wav);
  EXPECT_EQ(whole->get_header_value("Content-Type"), "audio/wav");
  EXPECT_EQ(whole->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(whole->get_header_value("Cache-Control"), "no-store");
  EXPECT_THAT(whole->get_header_value("Content-Security-Policy"), HasSubstr("media-src 'self'"));
  const auto range = http_->Get(address, {{"Range", "bytes=250000-349999"}});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->status, 206);
  EXPECT_EQ(range->body, wav.substr(250000, 100000));
  for (const std::string& none : {photo, std::string(32, '0'), std::string("../.."), std::string()})
    EXPECT_EQ(status(at(none), {}), 404) << none;
  EXPECT_EQ(status("/sound", headers_), 404);
  EXPECT_EQ(status("/sound/" + std::string(64, '0'), {{"Host", "evil.example"}}), 403);
}

TEST_F(Review, SamplesGetLabelsAndHaveTheirsAgain) {
  open();
  const std::string one = add("one"), two = add("two"), cat = add("three", {"cat"});
  EXPECT_EQ(unlabelled().size(), 2U);
  EXPECT_EQ(unlabelled()[0]["name"], "one");
  EXPECT_EQ(call("labels"), (Json{{"labels", {"cat"}}, {"unlabelled", 2}, {"labelled", 1}}));
  call("samples", {{"unlabelled", false}, {"after", 0}});
  const Json changed = call(
      "decide", {{"decisions", {decision({one, cat}, "dog"), decision({two}, "cat")}}})["changed"];
  EXPECT_EQ(changed.size(), 3U);
  EXPECT_EQ(labels_of(one), Labels{"dog"});
  EXPECT_EQ(labels_of(cat), Labels{"dog"});
  EXPECT_EQ(labels_of(two), Labels{"cat"});
  call("decide", {{"decisions", {decision({two}, nullptr)}}});
  EXPECT_EQ(labels_of(two), Labels());
  EXPECT_EQ(call("undo")["changed"], (Json{{{"digest", two}, {"labels", {"cat"}}}}));
  EXPECT_EQ(labels_of(two), Labels{"cat"});
  EXPECT_EQ(call("undo")["changed"].size(), 3U);
  EXPECT_EQ(labels_of(one), Labels());
  EXPECT_EQ(labels_of(cat), Labels{"cat"});
  EXPECT_EQ(call("undo")["changed"], Json::array());
}

TEST_F(Review, WhatMoildRefusesChangesNothing) {
  open();
  const std::string one = add("one");
  EXPECT_THAT(
      call("decide", {{"decisions", {decision({one}, "dog")}}}, 409)["message"].get<std::string>(),
      HasSubstr("is not on the list"));
  unlabelled();
  EXPECT_THAT(
      call("decide", {{"decisions", {decision({one}, " ")}}}, 409)["message"].get<std::string>(),
      Not(::testing::IsEmpty()));
  EXPECT_EQ(labels_of(one), Labels());
  for (const char* name : {"proposals", "doubts"})
    EXPECT_THAT(call(name)["message"].get<std::string>(), HasSubstr("model")) << name;
  for (const char* name : {"learn", "predict"})
    EXPECT_THAT(call(name, Json::object(), 409)["message"].get<std::string>(), HasSubstr("model"));
  EXPECT_TRUE(call("home")["model"].is_null());
}

TEST_F(Review, PreviewsAreMoilds) {
  open();
  const std::string one = add("one"), bad = add("bad");
  const Json found = call("previews", {{"digests", {one, bad}}})["previews"];
  EXPECT_EQ(found[0]["jpeg"], "/9j/");
  EXPECT_EQ(found[1]["error"]["code"], "bad_data");
  call("previews", {{"digests", {"7"}}}, 409);
}

TEST_F(Review, ThePageEndsIt) {
  open();
  call("end");
  thread_.join();
  thread_ = std::thread([] {});
  EXPECT_EQ(status("/", headers_), 0);
}

// A moild that takes all and says nothing, as one whose worker has much to do.
class Silent {
 public:
  explicit Silent(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
  }
  void wait_for_a_client() const {
    pollfd wanted{socket_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, 20'000), 1);
  }

 private:
  UniqueFd socket_;
};

// What a page shows that was opened with the address.
httplib::Headers let_in(const std::string& at, const std::string& address) {
  const httplib::Headers ours{{"Origin", "http://" + at}};
  const Json token{{"token", address.substr(address.find('#') + 1)}};
  const auto opened = httplib::Client(at).Post("/api/open", ours, token.dump(), "application/json");
  return {{"Moil-Review", parsed_json(opened->body)["secret"]}, {"Origin", "http://" + at}};
}

TEST(ReviewServer, EndsWhereNoMoildIs) {
  const daemon::test::TempFolder folder;
  ReviewServer server(folder / "socket");
  const std::string at = "127.0.0.1:" + std::to_string(server.bind(0));
  std::thread serving([&] { server.serve(); });
  const httplib::Headers headers = let_in(at, server.address());
  const auto asked = httplib::Client(at).Post("/api/labels", headers, "{}", "application/json");
  EXPECT_EQ(asked->status, 409);
  const auto ended = httplib::Client(at).Post("/api/end", headers, "{}", "application/json");
  ASSERT_TRUE(ended) << "the page is told";
  EXPECT_EQ(ended->status, 200);
  serving.join();
}

TEST(ReviewServer, EndsWhileTheModelIsAsked) {
  const daemon::test::TempFolder folder;
  const Silent silent(folder / "socket");
  ReviewServer server(folder / "socket");
  const int port = server.bind(0);
  std::thread serving([&] { server.serve(); });
  const std::string at = "127.0.0.1:" + std::to_string(port), address = server.address();
  const httplib::Headers headers = let_in(at, address);
  int status = 0;
  std::thread asking([&] {
    const auto reply =
        httplib::Client(at).Post("/api/proposals", headers, "{}", "application/json");
    status = reply ? reply->status : 0;
  });
  silent.wait_for_a_client();
  const auto begun = std::chrono::steady_clock::now();
  server.stop();
  serving.join();
  asking.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(4));
  EXPECT_EQ(status, 200) << "it was told that the answer would come";
}

// A page that is closed, or a browser that is gone.
TEST_F(Review, TheModelsWorkEndsWithThePage) {
  daemon::test::import_model(moild_);
  open();
  const auto state = folder_ / "state";
  std::ofstream(state / "hold-studies") << "yes";
  for (const char* name : {"proposals", "doubts"}) {
    httplib::Client page("127.0.0.1", port_);
    std::thread asking(
        [&] { (void)page.Post(std::string("/api/") + name, headers_, "{}", "application/json"); });
    const auto workers = [&] {
      std::vector<pid_t> found;
      std::ifstream in(state / "studies");
      for (pid_t pid = 0; in >> pid;) found.push_back(pid);
      return found;
    };
    const std::size_t before = name == std::string("proposals") ? 0 : 1;
    ASSERT_TRUE(daemon::test::eventually([&] { return workers().size() > before; })) << name;
    const pid_t worker = workers().back();
    EXPECT_EQ(::kill(worker, 0), 0);
    page.stop();
    asking.join();
    EXPECT_TRUE(daemon::test::eventually([&] { return ::kill(worker, 0) != 0; })) << name;
  }
  std::filesystem::remove(state / "hold-studies");
}

TEST_F(Review, APortThatIsTakenIsTold) {
  ReviewServer second(moild_.socket());
  try {
    second.bind(port_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr("--port"));
  }
}

}  // namespace
}  // namespace moil::review
