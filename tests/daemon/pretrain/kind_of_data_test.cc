#include "daemon/pretrain/kind_of_data.h"

#include <gmock/gmock.h>

#include <cmath>

#include "datasets/kinds/sound/sound_kind.h"
#include "tests/daemon/night/support.h"
#include "tests/datasets/sounds/encode_sound.h"

namespace moil::pretrain {
namespace {

using night::error_of;
using night::NumberImages;
using nlohmann::json;
using ::testing::HasSubstr;

// Two tones, of a second and of half a second.
class Tones : public data::TableDataset<data::SampleDataset> {
 public:
  Tones() {
    table_ = data::SampleTable({"high", "low"});
    table_.add({0}, data::Split::kTrain);
    table_.add({1}, data::Split::kTrain);
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(encoded(i)); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    namespace sounds = data::test;
    const auto samples = i == 0 ? sounds::tone(16000, 2000, 1) : sounds::tone(16000, 300, 0.5);
    return sounds::encode_sound(sounds::SoundFormat::kWav16, 16000, 1, samples);
  }
  std::string name(std::size_t i) const override { return "tone " + std::to_string(i); }
};

ModelDescription taking(const std::vector<std::int64_t>& dims) {
  ModelDescription model;
  model.inputs = {{"sound", dims}};
  return model;
}

std::string refusal(const ModelDescription& model, const Tones& tones, const KindOptions& options) {
  std::string text;
  EXPECT_EQ(error_of([&] { (void)kind_of_data(model, tones, options); }, &text),
            ErrorCode::kInvalidArgument);
  return text;
}

// Over every number in the first channel of all patches.
std::pair<double, double> mean_and_deviation(const data::Kind& kind, const Tones& tones) {
  double count = 0, sum = 0, squares = 0;
  std::vector<float> patch(kind.floats());
  const auto channels = static_cast<std::size_t>(kind.inputs()[0][0]);
  for (std::size_t i = 0; i < tones.size(); ++i) {
    const auto bytes = tones.encoded(i);
    const auto maker = kind.maker({});
    maker->load(bytes, "tone");
    for (std::uint32_t part = 0; part < kind.parts(bytes, "tone"); ++part) {
      maker->make({}, {0, part}, patch.data());
      for (std::size_t k = 0; k < patch.size(); k += channels) {
        ++count;
        sum += double{patch[k]};
        squares += double{patch[k]} * double{patch[k]};
      }
    }
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST(KindOfData, SoundsBecomeSpectrogramsOfTheModelsSize) {
  const Tones tones;
  for (const std::int64_t channels : {1, 3}) {
    const auto kind = kind_of_data(taking({channels, 40, 32}), tones, {});
    EXPECT_EQ(kind->name(), "sound");
    EXPECT_EQ(kind->inputs(), (std::vector<data::Kind::Dims>{{channels, 40, 32}}));
    const json front_end = kind->to_json().at("front_end");
    EXPECT_EQ(front_end.at("type"), channels == 1 ? "log_mel" : "log_mel_deltas");
    EXPECT_EQ(front_end.at("patch_hop"), 20);
    const auto [mean, deviation] = mean_and_deviation(*kind, tones);
    EXPECT_NEAR(mean, 0, 1e-3);
    EXPECT_NEAR(deviation, 1, 1e-3);
  }
  EXPECT_THAT(refusal(taking({2, 40, 32}), tones, {}), HasSubstr("[1 or 3, frames, bands]"));
}

TEST(KindOfData, ADescriptionIsTakenAtItsWord) {
  const Tones tones;
  KindOptions options;
  options.preprocessing = {
      {"kind", "sound"},
      {"front_end", {{"type", "log_mel"}, {"frames", 48}, {"patch_hop", 12}, {"bands", 32}}},
      {"answer", "maximum"}};
  const auto kind = kind_of_data(taking({1, 48, 32}), tones, options);
  EXPECT_EQ(kind->to_json().at("front_end").at("patch_hop"), 12);
  EXPECT_EQ(kind->part_answer(), data::PartAnswer::kMaximum);
  EXPECT_NEAR(mean_and_deviation(*kind, tones).second, 1, 1e-3);

  options.preprocessing["std"] = 4;
  const json plain = kind_of_data(taking({1, 48, 32}), tones, options)->to_json();
  EXPECT_EQ(plain.at("std"), 4);
  EXPECT_FALSE(plain.contains("mean"));

  EXPECT_THAT(refusal(taking({1, 96, 64}), tones, options),
              HasSubstr("makes [[1,48,32]] of a sample; the model takes [[1,96,64]]"));
}

TEST(KindOfData, ImagesHaveTheModelsSize) {
  const auto kind = kind_of_data(taking({1, 8, 8}), NumberImages({"a", "b"}, 4), {});
  EXPECT_EQ(kind->name(), "image");
  EXPECT_EQ(kind->inputs(), (std::vector<data::Kind::Dims>{{1, 8, 8}}));
}

class Words : public data::TableDataset<data::SampleDataset> {
 public:
  Words() {
    table_ = data::SampleTable({"any"});
    table_.add({0}, data::Split::kTrain);
    table_.add({0}, data::Split::kTrain);
    table_.add({0}, data::Split::kValidation);
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(encoded(i)); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    const std::string text = i == 0 ? "caf\u00e9" : i == 1 ? "face" : "held out";
    return {text.begin(), text.end()};
  }
  std::string name(std::size_t i) const override { return "text " + std::to_string(i); }
};

TEST(KindOfData, CharactersAreThoseOfTheTextsThatTrain) {
  const auto kind = [](json vocabulary) {
    KindOptions options;
    options.preprocessing = {{"kind", "tokens"}, {"length", 4}, {"vocabulary", vocabulary}};
    return kind_of_data(taking({4}), Words(), options);
  };
  EXPECT_EQ(kind(json::array())->to_json()["vocabulary"], json({"a", "c", "e", "f", "\u00e9"}));
  EXPECT_EQ(kind({"z", "c"})->to_json()["vocabulary"], json({"z", "c", "a", "e", "f", "\u00e9"}));
  EXPECT_EQ(kind("bytes")->symbols(), 257);
}

}  // namespace
}  // namespace moil::pretrain
