// label.* and cache.* over the socket.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/sqlite/database.h"
#include "daemon/client/client.h"
#include "daemon/json/base64.h"
#include "daemon/rpc/receive.h"
#include "daemon/upkeep/cache_access.h"
#include "tests/daemon/support/hung_file.h"
#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

class Labels : public ServerTest {};

TEST_F(Labels, ManyFilesByDescriptorInOneRequest) {
  std::vector<UniqueFd> files;
  std::vector<int> descriptors;
  Json samples = Json::array();
  for (int i = 0; i < 40; ++i) {
    const auto path = folder_ / ("sample" + std::to_string(i));
    std::ofstream(path) << photo("content " + std::to_string(i));
    files.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    descriptors.push_back(files.back().get());
    samples.push_back({{"file", i}});
  }
  Client client(server_.socket());
  const Json reply =
      client.call("label.add", {{"labels", {"7"}}, {"samples", samples}}, descriptors);
  EXPECT_EQ(reply["added"], 40);
  EXPECT_EQ(reply["samples"][3]["digest"], data::digest_of(photo("content 3")).hex());
}

TEST_F(Labels, ADescriptorThatIsNoFileAndOneThatIsNotThere) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const UniqueFd reader(pipe[0]);
  const UniqueFd writer(pipe[1]);
  Client client(server_.socket());
  const int fd = reader.get();
  const Json reply = client.call("label.add", {{"labels", {"7"}}, {"samples", {{{"file", 0}}}}},
                                 std::span(&fd, 1));
  EXPECT_EQ(reply["failed"], 1);
  EXPECT_EQ(reply["samples"][0]["error"]["code"], "invalid_argument");
  EXPECT_EQ(error_of("label.add", {{"labels", {"7"}}, {"samples", {{{"file", 0}}}}}),
            "invalid_argument");
}

TEST_F(Labels, AFileThatHangsHoldsNobodyUp) {
  const HungFile hung;
  if (!hung.is_there()) GTEST_SKIP() << "no right to mount a file system";
  Config config = quick_config();
  config.server.file_seconds = 1;
  const TestServer server(folder_ / "patient", config);
  std::ofstream(folder_ / "good") << "good";
  const UniqueFd bad(::open(hung.path().c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd good(::open((folder_ / "good").c_str(), O_RDONLY | O_CLOEXEC));
  const int files[] = {bad.get(), good.get()};
  Line client(server.socket());
  const Json samples = {{{"content", "/9j/YQ=="}}, {{"file", 0}}, {{"file", 1}}};
  const std::string request = request_line("label.add", {{"labels", {"7"}}, {"samples", samples}});
  ASSERT_GT(send_with(client.descriptor(), request, files), 0);
  ASSERT_TRUE(eventually([&] { return hung.reads() > 0; }));

  const auto begin = std::chrono::steady_clock::now();
  const Json params = {{"labels", {"8"}}, {"samples", {{{"content", "/9j/Yg=="}}}}};
  EXPECT_EQ(result_of(server.socket(), "label.add", params)["added"], 1);
  EXPECT_EQ(result_of(server.socket(), "label.list")["labels"].size(), 1U)
      << "what was read before it is tried with it";
  result_of(server.socket(), "cache.stats");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));

  const Json reply = client.read()["result"];
  EXPECT_EQ(reply["added"], 1);
  EXPECT_EQ(reply["failed"], 2);
  EXPECT_THAT(reply["samples"][1]["error"]["message"],
              ::testing::HasSubstr("did not answer within 1.0 s"));
  EXPECT_EQ(reply["samples"][2]["error"]["code"], "io");
}

TEST_F(Labels, AFileOfTheKernelsThatNeverEndsIsNotRead) {
  const UniqueFd messages(::open("/proc/kmsg", O_RDONLY | O_CLOEXEC));
  if (!messages) GTEST_SKIP() << "no right to open /proc/kmsg";
  const int fd = messages.get();
  Client client(server_.socket());
  const Json reply = client.call("label.add", {{"labels", {"7"}}, {"samples", {{{"file", 0}}}}},
                                 std::span(&fd, 1));
  EXPECT_EQ(reply["failed"], 1);
}

TEST_F(Labels, BadSamplesAreNamedTogetherAndNothingIsAdded) {
  const Json samples = {{{"content", "AAEC"}}, {{"content", "!!"}}, Json::object()};
  EXPECT_THAT(pointers("label.add", {{"labels", {"7"}}, {"samples", samples}}),
              ::testing::ElementsAre("/samples/1", "/samples/2"));
  EXPECT_TRUE(call("label.list")["labels"].empty());
}

TEST_F(Labels, ASampleUnderAnotherLabelIsReportedInItsPlace) {
  const Json first = add("cat", "one");
  const Json again = add("dog", "one");
  EXPECT_EQ(again["error"]["code"], "already_exists");
  EXPECT_THAT(again["error"]["message"], ::testing::HasSubstr("'cat'"));
  EXPECT_EQ(again["digest"], first["digest"]);
  call("label.relabel", {{"digest", first["digest"]}, {"labels", {"dog"}}});
  EXPECT_EQ(add("dog", "one")["new"], false);
}

TEST_F(Labels, WhatNoModelReadsIsRefusedInItsPlace) {
  const Json reply =
      call("label.add", {{"labels", {"cat"}},
                         {"samples",
                          {{{"content", encode_base64("milk, bread")}, {"name", "list.jpg"}},
                           {{"content", encode_base64(photo("one"))}, {"name", "one.jpg"}}}}});
  EXPECT_EQ(reply["added"], 1);
  EXPECT_EQ(reply["failed"], 1);
  EXPECT_EQ(reply["samples"][0]["error"]["code"], "bad_data");
  EXPECT_THAT(reply["samples"][0]["error"]["message"], ::testing::HasSubstr("it is text"));
  EXPECT_EQ(call("label.samples")["samples"][0]["name"], "one.jpg");
}

// Of many at once some are refused; the worker dies of one, which does not keep the others back.
// A note among photos is none of them, unless there is a model that reads notes.
TEST_F(Labels, TextIsTakenWhereAModelReadsIt) {
  const auto add = [&](const std::string& content) {
    return call("label.add",
                {{"labels", {"mine"}}, {"samples", {{{"content", encode_base64(content)}}}}});
  };
  EXPECT_EQ(add("It was a dark night.\n")["failed"], 1);
  const auto version = StateLayout(state()).version("text", 1);
  std::filesystem::create_directories(version);
  std::ofstream(version / "preprocessing.json") << R"({"kind": "image"})";
  EXPECT_EQ(add("It was a dark night.\n")["failed"], 1);
  std::ofstream(version / "preprocessing.json") << R"({"kind": "tokens", "length": 8})";
  EXPECT_EQ(add("It was a dark night.\n")["added"], 1);
  EXPECT_EQ(add("A table, by its looks\nand none, in truth\n")["added"], 1);
  EXPECT_EQ(add("\1\2\3 of no known kind")["added"], 1);
  EXPECT_EQ(add("")["failed"], 1) << "it is empty";
}

TEST_F(Labels, WhatCannotBeDecodedIsRefusedInItsPlace) {
  Json samples = Json::array();
  for (int i = 0; i < 120; ++i) {
    std::string content = photo(std::to_string(i));
    if (i == 3 || i == 100) content += " undecodable";
    if (i == 60) content += " kills-trials";
    samples.push_back({{"content", encode_base64(content)}});
  }
  const Json params{{"labels", {"cat"}}, {"samples", samples}};
  const Json reply = call("label.add", params);
  EXPECT_EQ(reply["added"], 117);
  EXPECT_EQ(reply["failed"], 3);
  for (const int i : {3, 100}) {
    EXPECT_EQ(reply["samples"][i]["error"],
              (Json{{"code", "bad_data"}, {"message", "it cannot be read: cut off"}}));
    EXPECT_TRUE(reply["samples"][i]["digest"].is_string());
  }
  const Json died = reply["samples"][60]["error"];
  EXPECT_EQ(died["code"], "internal");
  EXPECT_THAT(died["message"], ::testing::HasSubstr("it cannot be read: the worker"));
  EXPECT_EQ(call("label.list")["samples"], 117);
  EXPECT_EQ(call("label.add", params)["failed"], 3) << "they are not there";
}

TEST_F(Labels, OneThatDiffersInCaseAloneIsAskedFor) {
  const std::string digest = add("cat", "one")["digest"];
  const Json refused = ask("label.add", {{"labels", {"Cat"}}, {"samples", Json::array()}})["error"];
  EXPECT_EQ(refused["data"], (Json{{"code", "already_exists"},
                                   {"other_case", {{"given", "Cat"}, {"label", "cat"}}}}));
  EXPECT_THAT(refused["message"], ::testing::HasSubstr("'Cat' differs from it in case alone"));
  const Json added{{"content", encode_base64(photo("two"))}};
  EXPECT_EQ(error_of("label.add", {{"labels", {"CAT"}}, {"samples", {added}}}), "already_exists");
  EXPECT_EQ(error_of("label.add", {{"labels", {"dog", "Dog"}}, {"samples", {added}}}),
            "already_exists");
  EXPECT_EQ(error_of("label.assign", {{"samples", {digest}}, {"label", "Cat"}}), "already_exists");
  EXPECT_EQ(error_of("label.relabel", {{"digest", digest}, {"labels", {"Cat"}}}), "already_exists");
  add("dog", "three");
  EXPECT_EQ(error_of("label.merge", {{"from", "dog"}, {"into", "Cat"}}), "already_exists");
  EXPECT_EQ(error_of("label.rename", {{"from", "dog"}, {"to", "Cat"}}), "already_exists");
  EXPECT_EQ(error_of("label.map", {{"label", "Cat"}, {"global", {"7"}}}), "already_exists");
  EXPECT_EQ(call("label.list")["samples"], 2) << "nothing was added";
  EXPECT_EQ(call("label.list")["labels"].size(), 2U);

  call("label.rename", {{"from", "cat"}, {"to", "Cat"}});
  EXPECT_EQ(add("Cat", "four")["new"], true) << "it is there so";
  call("label.assign", {{"samples", {digest}}, {"label", "cat"}, {"as_spelled", true}});
  EXPECT_EQ(call("label.list")["labels"].size(), 3U) << "whoever means it so";
  EXPECT_EQ(add("cat", "five")["new"], true) << "both are there";
}

TEST_F(Labels, RemoveNeedsSaySoWhereSamplesWouldGo) {
  add("cat", "one");
  EXPECT_EQ(error_of("label.rm", {{"label", "cat"}}), "failed_precondition");
  EXPECT_EQ(call("label.rm", {{"label", "cat"}, {"with_samples", true}})["forgotten"], 1);
  EXPECT_EQ(error_of("label.rm", {{"label", "cat"}}), "not_found");
}

TEST_F(Labels, AreMappedToLabelsThatAModelHas) {
  import_model(server_);
  std::ofstream(state() / "models/digits/1/labels.json") << R"(["Dog", "Domestic animals, pets"])";
  const Json good{{"label", "rex"}, {"global", {"Dog", "Domestic animals, pets"}}};
  EXPECT_EQ(call("label.map", good)["map"]["rex"].size(), 2U);
  const Json bad{{"label", "rex"}, {"global", {"Dog", "Domestic animal, pets", "zebra"}}};
  const Json errors = ask("label.map", bad)["error"]["data"]["errors"];
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0]["pointer"], "/global/1");
  EXPECT_THAT(errors[0]["message"], ::testing::HasSubstr("mean \"Domestic animals, pets\"?"));
  EXPECT_THAT(errors[1]["message"], ::testing::HasSubstr("--suggest"));
  EXPECT_EQ(call("label.map")["map"]["rex"].size(), 2U) << "nothing of it is taken";
  EXPECT_TRUE(call("label.map", {{"label", "rex"}})["map"].empty());
}

TEST_F(Labels, UnlabelledSamplesGetALabelSeveralAtOnce) {
  std::vector<std::string> digests;
  for (const char* content : {"one", "two", "three"})
    digests.push_back(call(
        "label.add",
        {{"samples", {{{"content", encode_base64(photo(content))}}}}})["samples"][0]["digest"]);
  EXPECT_EQ(call("label.list")["unlabelled"], 3);
  const Json page = call("label.samples", {{"unlabelled", true}, {"limit", 2}});
  EXPECT_EQ(page["samples"].size(), 2U);
  EXPECT_EQ(
      call("label.samples", {{"unlabelled", true}, {"after", page["next"]["after"]}})["samples"]
          .size(),
      1U);
  const Json two = {digests[0], digests[1]};
  EXPECT_EQ(call("label.assign", {{"samples", two}, {"label", "cat"}})["changed"], 2);
  EXPECT_EQ(call("label.list")["unlabelled"], 1);
  EXPECT_EQ(call("label.samples", {{"unlabelled", false}})["samples"].size(), 2U);
  EXPECT_EQ(
      error_of("label.assign", {{"samples", {digests[2], std::string(32, '0')}}, {"label", "cat"}}),
      "not_found");
  EXPECT_EQ(error_of("label.assign", {{"samples", {digests[2]}}}), "invalid_argument");
  EXPECT_EQ(error_of("label.assign", {{"samples", Json::array()}, {"label", "cat"}}),
            "invalid_argument");
  EXPECT_EQ(call("label.undo")["restored"], 2);
  EXPECT_EQ(call("label.list")["unlabelled"], 3);
}

TEST_F(Labels, AStepIsUndoneAsAWhole) {
  for (const char* content : {"one", "two"})
    call("label.add", {{"labels", {"cat"}},
                       {"step", "import 7"},
                       {"samples", {{{"content", encode_base64(photo(content))}}}}});
  add("dog", "three");
  EXPECT_EQ(call("label.merge", {{"from", "dog"}, {"into", "cat"}})["changed"], 1);
  EXPECT_EQ(call("label.undo")["undone"], "merge");
  const Json agreed{{"with_samples", true}};
  EXPECT_EQ(call("label.undo", agreed)["forgotten"], 1);
  const Json refused = ask("label.undo")["error"];
  EXPECT_EQ(refused["data"], Json({{"code", "failed_precondition"}, {"would_forget", 2}}));
  EXPECT_THAT(refused["message"], ::testing::HasSubstr("2 samples for good"));
  EXPECT_EQ(call("label.samples")["samples"].size(), 2U);
  const Json undone = call("label.undo", agreed);
  EXPECT_EQ(undone["forgotten"], 2);
  EXPECT_EQ(undone["left"], 0);
  EXPECT_TRUE(call("label.samples")["samples"].empty());
  EXPECT_EQ(error_of("label.undo"), "failed_precondition");
}

TEST_F(Labels, AStepIsTakenBackByItsName) {
  const std::string one = add("cat", "one")["digest"], two = add("cat", "two")["digest"];
  call("label.assign", {{"samples", {one, two}}, {"label", "dog"}, {"step", "page 1"}});
  call("label.relabel", {{"digest", two}, {"labels", {"fox"}}});
  const Json undone = call("label.undo", {{"step", "page 1"}});
  EXPECT_EQ(undone["undone"], "assign");
  EXPECT_EQ(undone["restored"], 1);
  EXPECT_EQ(undone["kept"], Json({two}));
  EXPECT_EQ(error_of("label.undo", {{"step", "page 1"}}), "failed_precondition");
  EXPECT_EQ(call("label.undo")["undone"], "relabel");
  const Json samples = call("label.samples")["samples"];
  for (const Json& sample : samples) EXPECT_EQ(sample["labels"], Json({"cat"}));
}

TEST_F(Labels, ForgetTakesTheFeatureMapsAlong) {
  const std::string digest = add("cat", "one")["digest"];
  const cache::ModelId model = cache::model_id("backbone", "pixels");
  {
    auto cache = open_cache(StateLayout(state()), 0);
    cache.use_model(model, "backbone");
    const std::string content = photo("one");
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data());
    const std::vector<float> features = {1, 2, 3};
    cache.put({model, cache::sample_digest(std::span(bytes, content.size()))}, features);
    cache.flush();
  }
  EXPECT_EQ(call("cache.stats")["entries"], 1);
  EXPECT_EQ(call("cache.verify")["ok"], true);
  call("label.forget", {{"digest", digest}});
  EXPECT_EQ(call("cache.stats")["entries"], 0);
  EXPECT_EQ(error_of("label.forget", {{"digest", digest}}), "not_found");
  EXPECT_EQ(error_of("label.forget", {{"digest", "xyz"}}), "invalid_argument");
}

TEST_F(Labels, ForgetTakesManyAtOnceOrNone) {
  std::vector<std::string> digests;
  for (int i = 0; i < 30; ++i) digests.push_back(add("cat", std::to_string(i))["digest"]);
  const std::string kept = digests.back();
  digests.back() = std::string(32, '0');
  EXPECT_EQ(error_of("label.forget", {{"digests", digests}}), "not_found");
  EXPECT_EQ(call("label.samples")["samples"].size(), 30U);
  digests.pop_back();
  EXPECT_EQ(call("label.forget", {{"digests", digests}})["forgotten"], 29);
  ASSERT_EQ(call("label.samples")["samples"].size(), 1U);
  EXPECT_EQ(call("label.samples")["samples"][0]["digest"], kept);
  const std::vector<std::string> twice{kept, kept};
  EXPECT_EQ(call("label.forget", {{"digests", twice}})["forgotten"], 2);
  for (const Json& wrong :
       {Json::object(), Json{{"digests", Json::array()}}, Json{{"digests", Json::array({"xyz"})}},
        Json{{"digest", kept}, {"digests", twice}},
        Json{{"digests", std::vector<std::string>(1001, kept)}}})
    EXPECT_EQ(error_of("label.forget", wrong), "invalid_argument") << wrong;
}

TEST(Base64, RoundTripAndRefusal) {
  for (const std::string text : {"", "f", "fo", "foo", "\xff\x01\xfe"}) {
    const auto back = decode_base64(encode_base64(text));
    ASSERT_TRUE(back);
    EXPECT_EQ(std::string(back->begin(), back->end()), text);
  }
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  for (const char* bad : {"A", "AA", "AAA", "A===", "AA=A", "A A=", "AAAA\n"}) {
    EXPECT_FALSE(decode_base64(bad)) << bad;
  }
}

TEST_F(Labels, PreviewsInTheirOrderWithWhatHasNone) {
  const std::string one = add("cat", "one")["digest"], bad = add("cat", "bad")["digest"];
  const std::string large = add("cat", std::string(data::kInlineBytes + 1, 'x'))["digest"];
  const std::string numbers =
      call("label.add",
           {{"labels", {"cat"}},
            {"samples", {{{"content", encode_base64("1,2\n3,4\n")}}}}})["samples"][0]["digest"];
  const std::string none(32, '0');
  const Json found =
      call("label.preview", {{"digests", {one, none, bad, numbers, large}}})["previews"];
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(
      found[0],
      (Json{{"digest", one}, {"name", ""}, {"jpeg", "/9j/"}, {"width", 128}, {"height", 96}}));
  EXPECT_EQ(found[1]["error"]["code"], "not_found");
  EXPECT_EQ(found[2]["error"], (Json{{"code", "bad_data"}, {"message", "not an image"}}));
  EXPECT_EQ(found[3]["error"]["code"], "unimplemented");
  EXPECT_EQ(found[4]["jpeg"], "/9j/");
  EXPECT_EQ(call("label.preview", {{"digests", {none}}})["previews"][0]["digest"], none);
}

TEST_F(Labels, PiecesOfRecordingsAreSamples) {
  const auto params = [](const std::string& content, const std::string& label) {
    return Json{
        {"content", encode_base64(content)}, {"from", 3}, {"to", 4.75}, {"labels", {label}}};
  };
  const Json first = call("label.cut", params("a walk", "knock"));
  EXPECT_EQ(first["new"], true);
  EXPECT_EQ(first["name"], "3-4.75 s");
  EXPECT_EQ(first["seconds"], 1.5);  // the worker's
  EXPECT_FALSE(first.contains("recording"));
  Json again = params("the same walk", "knock");
  again["name"] = "walk.ogg";
  EXPECT_EQ(call("label.cut", again)["new"], false);
  const Json samples = call("label.samples", {{"label", "knock"}})["samples"];
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0]["digest"], first["digest"]);
  EXPECT_EQ(samples[0]["media_type"], "audio/wav");
  EXPECT_EQ(samples[0]["name"], "3-4.75 s");
  EXPECT_EQ(error_of("label.cut", params("a walk", "bark")), "already_exists");
  EXPECT_EQ(error_of("label.cut", params("bad", "knock")), "bad_data");
  Json nothing = params("a walk", "knock");
  nothing.erase("content");
  EXPECT_EQ(error_of("label.cut", nothing), "invalid_argument");
  nothing["file"] = 0;
  EXPECT_EQ(error_of("label.cut", nothing), "invalid_argument") << "none was sent along";
  EXPECT_EQ(error_of("label.cut", params("a walk", " knock")), "invalid_argument");
  EXPECT_EQ(call("label.undo", {{"with_samples", true}})["forgotten"], 1);
}

TEST_F(Labels, PreviewsAreAskedForWithinBounds) {
  EXPECT_EQ(error_of("label.preview", {{"digests", Json::array()}}), "invalid_argument");
  EXPECT_EQ(error_of("label.preview", {{"digests", {"7"}}}), "invalid_argument");
  EXPECT_EQ(
      error_of("label.preview", {{"digests", std::vector<std::string>(51, std::string(32, '0'))}}),
      "invalid_argument");
  EXPECT_EQ(error_of("label.preview", {{"digests", {std::string(32, '0')}}, {"size", 4096}}),
            "invalid_argument");
}

}  // namespace
}  // namespace moil::daemon::test
