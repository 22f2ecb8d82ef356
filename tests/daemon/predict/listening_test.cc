#include "daemon/predict/listening.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <array>
#include <cmath>
#include <numbers>
#include <thread>

#include "base/files/unique_fd.h"
#include "base/files/write_all.h"
#include "base/random.h"
#include "daemon/predict/prediction.h"
#include "engine/train/tasks/tag.h"
#include "tests/daemon/night/support.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/errors.h"

namespace moil::night {
namespace {

using data::test::SoundFormat;
using Bytes = std::vector<std::uint8_t>;

constexpr int kRate = 16000;
constexpr std::size_t kPart = 4080;  // samples

// Tags of patches of a quarter of a second; its weights are drawn, so that it says much.
ModelBundle tagger() {
  ModelBundle bundle;
  bundle.description = {"ears",
                        {{"patch", {1, 24, 16}}},
                        {{"flat", "flatten", {"patch"}, {}},
                         {"tags", "fully_connected", {"flat"}, {{"units", std::int64_t{4}}}}},
                        {"tags"}};
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 3);
  for (auto& [name, weights] : bundle.weights)
    for (float& weight : weights.data) weight *= 3;
  bundle.labels = {"bark", "knock", "marvin", "something else"};
  bundle.kind = data::kind_from_json(
      {{"kind", "sound"},
       {"front_end", {{"type", "log_mel"}, {"frames", 24}, {"bands", 16}, {"patch_hop", 8}}},
       {"mean", -4},
       {"std", 2}});
  bundle.task = tag_task({});
  return bundle;
}

// Tones and pauses of lengths that are drawn.
std::vector<float> sounds(double seconds) {
  Random random(5);
  std::vector<float> samples;
  while (static_cast<double>(samples.size()) < seconds * kRate) {
    const bool is_pause = random.below(3) == 0;
    const double hertz = 100 + 4000 * random.unit();
    const auto count = 500 + random.below(8000);
    for (std::size_t i = 0; i < count; ++i)
      samples.push_back(is_pause ? 0
                                 : static_cast<float>(std::lround(
                                       9000 * std::sin(2 * std::numbers::pi * hertz *
                                                       static_cast<double>(i) / kRate))) /
                                       32768);
  }
  samples.resize(static_cast<std::size_t>(seconds * kRate));
  return samples;
}

Bytes wav(std::span<const float> samples) {
  return data::test::encode_sound(SoundFormat::kWavFloat, kRate, 1,
                                  {samples.begin(), samples.end()});
}

struct Event {
  double time;
  std::string label;
  float probability;
  bool operator==(const Event&) const = default;
};
void PrintTo(const Event& event, std::ostream* out) {
  *out << event.time << " " << event.label << " " << event.probability;
}

class Listening : public ::testing::Test {
 protected:
  void SetUp() override { write_model_folder(model_, bundle_); }

  Json listen_to(int sound, ListeningWanted wanted = {}) {
    events_.clear();
    wanted.sound = sound;
    return listen(model_, wanted, [&](const HeardNow& heard) {
      events_.push_back({heard.time, heard.label, heard.probability});
    });
  }
  Json listen_to(const Bytes& file, const ListeningWanted& wanted = {}) {
    const UniqueFd memory(::memfd_create("sound", MFD_CLOEXEC));
    EXPECT_TRUE(write_all(memory.get(), file));
    return listen_to(memory.get(), wanted);
  }
  Json predicted(const Bytes& file) {
    return predict(model_, {{[&] { return file; }}}, {.top = 4, .timeline = true})[0];
  }
  double predicted_of(std::span<const float> window, const std::string& label) {
    const Json answer = predicted(wav(window));
    for (const Json& one : answer["top"])
      if (one["label"] == label) return one["probability"];
    return -1;
  }

  TempFolder temp_;
  std::filesystem::path model_ = temp_ / "model";
  ModelBundle bundle_ = tagger();
  std::vector<Event> events_;
};

TEST_F(Listening, HearsWhatATimelineSays) {
  const auto samples = sounds(20.1);
  const Json reply = listen_to(wav(samples));
  std::vector<std::pair<double, std::string>> expected, found;
  const Json timeline = predicted(wav(samples))["timeline"];
  for (const Json& interval : timeline["intervals"]) {
    const double end = std::min(interval["from"].get<double>() + 0.255, 20.1);
    if (interval["label"] != "something else")
      expected.emplace_back(std::round(1000 * end) / 1000, interval["label"]);
  }
  for (const Event& event : events_) found.emplace_back(event.time, event.label);
  EXPECT_EQ(found, expected);
  EXPECT_GT(found.size(), 20U);
  EXPECT_EQ(reply["events"], found.size());
  EXPECT_DOUBLE_EQ(reply["seconds"].get<double>(), 20.1);
}

TEST_F(Listening, IsAsSureAsAPredictionOfThePart) {
  const auto samples = sounds(10);
  (void)listen_to(wav(samples), {.every = 0.08});
  EXPECT_GT(events_.size(), 10U);
  for (const Event& event : events_) {
    const auto end = static_cast<std::size_t>(std::lround(event.time * kRate));
    if (end == samples.size()) continue;  // its part is filled up
    const auto window = std::span(samples).subspan(end - kPart, kPart);
    EXPECT_NEAR(predicted_of(window, event.label), event.probability, 1e-5) << event.time;
  }
}

// Parts that lie closer than a third of their length are joined.
TEST_F(Listening, IsAsSureAsPredictionsOfTheLastParts) {
  const auto samples = sounds(10);
  constexpr std::size_t kHop = 480, kJoined = 3;  // 30 ms of 255
  (void)listen_to(wav(samples), {.every = 0.03, .threshold = 0.4});
  EXPECT_GT(events_.size(), 10U);
  for (const Event& event : events_) {
    const auto end = static_cast<std::size_t>(std::lround(event.time * kRate));
    if (end == samples.size() || end < kPart + (kJoined - 1) * kHop) continue;
    double sum = 0;
    for (std::size_t k = 0; k < kJoined; ++k) {
      const auto window = std::span(samples).subspan(end - k * kHop - kPart, kPart);
      const bool has_signal = std::ranges::any_of(window, [](float x) { return x != 0; });
      sum += has_signal ? predicted_of(window, event.label) : 0;
    }
    EXPECT_NEAR(sum / kJoined, event.probability, 1e-4) << event.time;
  }
}

// A night finds them by what is held out.
TEST_F(Listening, HoldsLabelsToTheirLevels) {
  LabelLevels level;
  level.seconds = 3600;
  level.stretches = 100;
  level.peaks = std::vector<double>(10, 0.6);
  level.peaks.front() = 0.8;
  bundle_.listening = {{"marvin", level}};
  model_ = temp_ / "levels";
  write_model_folder(model_, bundle_);
  const Bytes file = wav(sounds(20));
  const Json reply = listen_to(file);
  const double told_from = level_for(level, 1);
  EXPECT_EQ(reply["levels"], (Json{{"marvin", told_from}}));
  EXPECT_GT(told_from, 0.6);
  const std::vector<Event> usual = events_;
  for (const Event& event : events_)
    EXPECT_TRUE(event.label != "marvin" || double{event.probability} >= told_from) << event.label;
  EXPECT_TRUE(std::ranges::any_of(events_, [](auto& e) { return e.label == "marvin"; }));
  EXPECT_TRUE(std::ranges::any_of(events_, [](auto& e) { return e.label == "bark"; }));
  (void)listen_to(file, {.false_accepts = 1});
  EXPECT_EQ(events_, usual);
  EXPECT_GT(listen_to(file, {.false_accepts = 0.1})["levels"]["marvin"], told_from);
  EXPECT_EQ(listen_to(file, {.threshold = 0.9})["levels"], Json::object());
  for (const Event& event : events_) EXPECT_GE(event.probability, 0.9F);
}

TEST_F(Listening, FalseAcceptsThatNobodyCountedAreNotPromised) {
  test::expect_error(ErrorCode::kFailedPrecondition, "is not known of this version",
                     [&] { (void)listen_to(wav(sounds(1)), {.false_accepts = 1}); });
}

// Every 80 ms, but of what sees long parts.
TEST_F(Listening, DecidesAsOftenAsItsPartsAreLong) {
  const Bytes file = wav(sounds(10));
  (void)listen_to(file, {.every = 0.08});
  const std::vector<Event> expected = events_;
  (void)listen_to(file);
  EXPECT_EQ(events_, expected);
  bundle_.kind = data::kind_from_json(
      {{"kind", "sound"},
       {"front_end", {{"type", "samples"}, {"rate", 4000}, {"window", 12000}, {"hop", 12000}}}});
  bundle_.description.inputs[0].dims = {12000};
  bundle_.weights = initial_weights(build_graph(bundle_.description, 1), 3);
  model_ = temp_ / "long";
  write_model_folder(model_, bundle_);
  (void)listen_to(file, {.every = 0.25, .threshold = 0.5});
  const std::vector<Event> of_long = events_;
  (void)listen_to(file, {.threshold = 0.5});
  EXPECT_EQ(events_, of_long);
  EXPECT_FALSE(events_.empty());
}

TEST_F(Listening, PiecesOfEverySizeAreTheSame) {
  const auto samples = sounds(6);
  (void)listen_to(wav(samples));
  const std::vector<Event> expected = events_;
  Bytes raw;
  for (const float sample : samples) {
    const auto value = static_cast<std::int16_t>(std::lround(32768 * sample));
    raw.push_back(static_cast<std::uint8_t>(value & 0xff));
    raw.push_back(static_cast<std::uint8_t>(value >> 8 & 0xff));
  }
  for (const std::size_t piece : {1U, 333U, 2560U, 1'000'000U}) {
    for (const bool is_odd : {false, true}) {
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
      const UniqueFd reader(ends[0]);
      std::thread writer([&, out = UniqueFd(ends[1])] {
        Bytes all = raw;
        all.resize(raw.size() + (is_odd ? 1 : 0));
        for (std::size_t at = 0; at < all.size(); at += piece)
          EXPECT_TRUE(
              write_all(out.get(), std::span(all).subspan(at, std::min(piece, all.size() - at))));
      });
      const Json reply = listen_to(reader.get(), {.raw_rate = kRate});
      writer.join();
      EXPECT_EQ(events_, expected) << piece;
      EXPECT_DOUBLE_EQ(reply["seconds"].get<double>(), 6);
      EXPECT_EQ(reply.value("remark", ""),
                is_odd ? "it ends with half of a sample, which was left out" : "");
    }
  }
}

TEST_F(Listening, TellsWhatItWasAskedFor) {
  const Bytes file = wav(sounds(10));
  (void)listen_to(file);
  const std::vector<Event> all = events_;
  (void)listen_to(file, {.labels = {"knock", "marvin"}});
  std::vector<Event> some;
  std::ranges::copy_if(all, std::back_inserter(some), [](auto& e) { return e.label != "bark"; });
  EXPECT_EQ(events_, some);
  EXPECT_LT(some.size(), all.size());
  (void)listen_to(file, {.threshold = 0.9});
  EXPECT_FALSE(events_.empty());
  for (const Event& event : events_) EXPECT_GE(event.probability, 0.9F);
  (void)listen_to(file, {.threshold = 0, .labels = {"something else"}});
  EXPECT_TRUE(events_.empty()) << "which is nobody's word";
  test::expect_error(ErrorCode::kInvalidArgument, "did you mean \"marvin\"",
                     [&] { (void)listen_to(file, {.labels = {"marvn"}}); });
}

TEST_F(Listening, ASoundThatIsShorterThanAPartIsHeardOnce) {
  const auto samples = sounds(0.2);
  const Json reply = listen_to(wav(samples), {.threshold = 0});
  EXPECT_THAT(events_, ::testing::SizeIs(3));
  for (const Event& event : events_) EXPECT_EQ(event.time, 0.2);
  EXPECT_DOUBLE_EQ(reply["seconds"].get<double>(), 0.2);
}

TEST_F(Listening, SilenceIsPassedOver) {
  const Json reply = listen_to(wav(std::vector<float>(3 * kRate)), {.threshold = 0});
  EXPECT_TRUE(events_.empty());
  EXPECT_THAT(reply.value("remark", ""), ::testing::HasSubstr("it is silent"));
}

// A classifier says something of whatever it hears, as likely or not.
TEST_F(Listening, AClassifierIsHeardIfItIsSure) {
  bundle_.task = classify_task();
  model_ = temp_ / "classes";
  write_model_folder(model_, bundle_);
  const Bytes file = wav(sounds(20));
  (void)listen_to(file);
  for (const Event& event : events_) EXPECT_GE(event.probability, 0.5F);
  (void)listen_to(file, {.threshold = 0.1});
  EXPECT_TRUE(std::ranges::any_of(events_, [](auto& e) { return e.probability < 0.5F; }));
}

TEST_F(Listening, WhatIsNoSoundOrHoldsNone) {
  const auto refused = [&](const Bytes& bytes, const std::string& why) {
    test::expect_error(ErrorCode::kBadData, why,
                       [&] { (void)listen_to(bytes, {.name = "walk.wav", .raw_rate = kRate}); });
  };
  refused({}, "walk.wav: it is empty");
  refused({7}, "walk.wav: it holds no sound");
  refused(wav({}), "walk.wav: it holds no sound");
  refused(Bytes(1000, 'a'), "walk.wav: it is text, no sound");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  ASSERT_TRUE(write_all(ends[1], wav({})));
  ::close(ends[1]);
  test::expect_error(ErrorCode::kBadData, "the sound: it holds no sound",
                     [&] { (void)listen_to(reader.get()); });
}

TEST_F(Listening, AModelOfPhotosHasNoEars) {
  write_model_folder(temp_ / "photos", small_bundle());
  test::expect_error(ErrorCode::kInvalidArgument, "what listens is a model of sounds",
                     [&] { (void)listen(temp_ / "photos", {}, {}); });
}

}  // namespace
}  // namespace moil::night
