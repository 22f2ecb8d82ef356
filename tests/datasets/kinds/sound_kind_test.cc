#include "datasets/kinds/sound/sound_kind.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::expect_error;
using test::SoundFormat;

const Digest kContent = digest_of("content");
const nlohmann::json kPlain = {{"kind", "sound"}, {"front_end", {{"type", "log_mel"}}}};

// A tone that climbs, so that every moment is another.
std::vector<float> sweep(double seconds) {
  std::vector<float> samples;
  double phase = 0;
  for (int i = 0; i < static_cast<int>(seconds * 16000); ++i) {
    phase += 2 * M_PI * (200 + 1500 * i / (seconds * 16000)) / 16000;
    samples.push_back(static_cast<float>(0.5 * std::sin(phase)));
  }
  return samples;
}

std::vector<float> made(SampleMaker& maker, const Kind& kind, PartView wanted) {
  std::vector<float> out(kind.floats());
  maker.make(kContent, wanted, out.data());
  return out;
}

TEST(SoundKind, TakesSoundsAndTellsTheInput) {
  const KindPtr kind = kind_from_json(kPlain);
  EXPECT_EQ(kind->name(), "sound");
  EXPECT_EQ(kind->inputs(), (std::vector<Kind::Dims>{{1, 96, 64}}));
  for (const auto media : {kWav, kOgg, kFlac, kMp3}) EXPECT_TRUE(kind->takes(media));
  EXPECT_FALSE(kind->takes(kJpeg));
  EXPECT_TRUE(kind->has_parts());
  EXPECT_TRUE(kind->has_views());
  const KindPtr deltas = kind_from_json(
      {{"kind", "sound"},
       {"front_end", {{"type", "log_mel_deltas"}, {"frames", 64}, {"patch_hop", 32}}}});
  EXPECT_EQ(deltas->inputs(), (std::vector<Kind::Dims>{{3, 64, 64}}));
}

TEST(SoundKind, IsReadAsItWasWritten) {
  nlohmann::json other = kPlain;
  other["mean"] = -4.5;
  other["std"] = 2.0;
  other["answer"] = "maximum";
  const KindPtr kind = kind_from_json(other), again = kind_from_json(kind->to_json());
  EXPECT_EQ(again->to_json(), kind->to_json());
  EXPECT_EQ(again->fingerprint(), kind->fingerprint());
  EXPECT_EQ(again->part_answer(), PartAnswer::kMaximum);
  EXPECT_NE(kind->fingerprint(), kind_from_json(kPlain)->fingerprint());
  EXPECT_EQ(again->part_training(), PartTraining::kEach);
  other["train"] = "clips";
  EXPECT_EQ(kind_from_json(kind_from_json(other)->to_json())->part_training(), PartTraining::kMean);
  other["answer"] = "mean";
  EXPECT_EQ(kind_from_json(other)->fingerprint(), kind->fingerprint()) << "the same patches";
  for (const auto& [field, value] : std::map<std::string, nlohmann::json>{{"answer", "median"},
                                                                          {"train", "all"},
                                                                          {"std", 0},
                                                                          {"front_end", "log_mel"},
                                                                          {"colour", 1}}) {
    nlohmann::json wrong = kPlain;
    wrong[field] = value;
    expect_error(ErrorCode::kInvalidArgument, {}, [&] { (void)kind_from_json(wrong); });
  }
}

TEST(SoundKind, PartsAreItsPatches) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, sweep(5));
  EXPECT_EQ(kind->parts(bytes, "sweep"), 10U);
  const auto places = kind->part_places(bytes, "sweep");
  ASSERT_TRUE(places);
  EXPECT_DOUBLE_EQ(places->hop, 0.48);
  EXPECT_DOUBLE_EQ(places->length, 0.975);
  EXPECT_DOUBLE_EQ(places->end, 5);
  EXPECT_EQ(places->unit, "seconds");
  const auto maker = kind->maker({});
  maker->load(bytes, "sweep");
  const FrontEnd front_end{FrontEndDescription()};
  FrontEnd::Memory memory(front_end);
  std::vector<float> samples = sweep(5), expected(kind->floats());
  samples.resize(samples.size() + 15600);
  for (std::uint32_t part = 0; part < 10; ++part) {
    front_end.patch(std::span(samples).subspan(part * 7680, 15600), memory, expected.data());
    const auto found = made(*maker, *kind, {0, part});
    EXPECT_EQ(found, expected) << part;
  }
}

TEST(SoundKind, DoesNotDependOnTheOrder) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto bytes = encode_sound(SoundFormat::kVorbis, 44100, 1, test::tone(44100, 700, 4));
  const auto one = kind->maker({}), other = kind->maker({});
  one->load(bytes, "sound");
  std::vector<std::vector<float>> in_order;
  for (std::uint32_t part = 0; part < 8; ++part)
    for (std::uint16_t view = 0; view < 3; ++view)
      in_order.push_back(made(*one, *kind, {view, part}));
  for (const std::uint32_t part : {7U, 0U, 3U, 2U, 6U}) {
    for (const std::uint16_t view : {2, 0, 1}) {
      other->load(bytes, "sound");
      if (part % 2 == 0) (void)made(*other, *kind, {1, 5});
      EXPECT_EQ(made(*other, *kind, {view, part}), in_order[part * 3 + view])
          << part << " " << view;
    }
  }
  EXPECT_NE(in_order[0], in_order[1]);
}

// The first frame in which a tone is heard.
std::size_t begins(const std::vector<float>& patch) {
  for (std::size_t i = 0; i < patch.size(); ++i)
    if (patch[i] > 0) return i / 64;
  return patch.size() / 64;
}

TEST(SoundKind, AShortSoundLiesSomewhereInItsPatchOverLowNoise) {
  const KindPtr kind = kind_from_json(kPlain);
  for (const int rate : {16000, 8000}) {
    const auto bytes = encode_sound(SoundFormat::kWav16, rate, 1, test::tone(rate, 440, 0.2));
    EXPECT_EQ(kind->parts(bytes, "knock"), 1U);
    const auto maker = kind->maker({});
    maker->load(bytes, "knock");
    std::vector<float> patch(kind->floats());
    std::set<std::size_t> places;
    for (const char* content : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      for (std::uint16_t view = 0; view < 3; ++view) {
        maker->make(digest_of(content), {view, 0}, patch.data());
        EXPECT_TRUE(maker->has_signal());
        EXPECT_LE(begins(patch), 96U - 18) << "all of it is there";
        if (view > 0) continue;
        places.insert(begins(patch));
        const auto first = patch;
        maker->make(digest_of(content), {0, 0}, patch.data());
        EXPECT_EQ(patch, first) << "the same each time";
        EXPECT_GT(std::ranges::count_if(patch, [](float x) { return x > std::log(0.00101F); }),
                  std::ssize(patch) / 4)
            << "around it is no digital silence";
      }
    }
    EXPECT_GT(places.size(), 5U);
    EXPECT_GT(*places.rbegin() - *places.begin(), 30U);
  }
}

TEST(SoundKind, PartsWithoutASignalAreTold) {
  const auto silent_in = [](double floor, const std::vector<float>& samples) {
    nlohmann::json json = kPlain;
    json["floor_db"] = floor;
    const KindPtr kind = kind_from_json(json);
    EXPECT_EQ(kind_from_json(kind->to_json())->fingerprint(), kind->fingerprint());
    const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, samples);
    const auto silent = kind->silent_parts(bytes, "clip");
    const auto maker = kind->maker({});
    maker->load(bytes, "clip");
    std::vector<float> patch(kind->floats());
    for (std::uint32_t part = 0; part < kind->parts(bytes, "clip"); ++part) {
      maker->make({}, {0, part}, patch.data());
      EXPECT_EQ(maker->has_signal(), std::ranges::find(silent, part) == silent.end()) << part;
    }
    return silent;
  };
  std::vector<float> clip = test::tone(16000, 440, 1);
  clip.resize(std::size_t{3} * 16000);
  using Parts = std::vector<std::uint32_t>;
  EXPECT_EQ(silent_in(-60, clip), (Parts{3, 4, 5}));
  EXPECT_EQ(silent_in(-60, sweep(3)), Parts{});
  std::vector<float> faint(std::size_t{2} * 16000);
  for (std::size_t i = 0; i < faint.size(); ++i) faint[i] = i % 2 == 0 ? 3e-4F : -3e-4F;  // -70 dB
  EXPECT_EQ(silent_in(-60, faint).size(), 4U);
  EXPECT_EQ(silent_in(-80, faint), Parts{});
  EXPECT_EQ(silent_in(-60, std::vector<float>(1600)), Parts{0}) << "a short one";
}

TEST(SoundKind, SilenceIsFaintAndDigitalAndHasNoSignal) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto bytes = encode_sound(SoundFormat::kWav16, 16000, 1, sweep(1));
  const auto maker = kind->maker({});
  maker->load(bytes, "clip");
  std::vector<float> patch(kind->floats());
  std::set<bool> digital;
  for (int i = 0; i < 32; ++i) {
    maker->make(digest_of(std::to_string(i)), {0, kSilence}, patch.data());
    EXPECT_FALSE(maker->has_signal());
    digital.insert(std::ranges::max(patch) < std::log(0.0010001F));
    EXPECT_LT(std::ranges::max(patch), std::log(1.0F));
  }
  EXPECT_EQ(digital.size(), 2U);
}

TEST(SoundKind, NormalisesTheFirstChannel) {
  nlohmann::json json = kPlain;
  json["front_end"] = {{"type", "log_mel_deltas"}};
  const KindPtr plain = kind_from_json(json);
  json["mean"] = -3.0;
  json["std"] = 2.0;
  const KindPtr normal = kind_from_json(json);
  const auto bytes = encode_sound(SoundFormat::kWav16, 16000, 1, sweep(1));
  const auto one = plain->maker({}), other = normal->maker({});
  one->load(bytes, "s");
  other->load(bytes, "s");
  const auto before = made(*one, *plain, {}), after = made(*other, *normal, {});
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_NEAR(after[i], (before[i] + (i % 3 == 0 ? 3.0F : 0.0F)) / 2, 1e-6);
}

TEST(SoundKind, ReleasesAndLoadsAgain) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto bytes = encode_sound(SoundFormat::kFlac, 16000, 1, sweep(2));
  const auto maker = kind->maker({});
  maker->load(bytes, "s");
  const auto before = made(*maker, *kind, {0, 1});
  maker->release();
  maker->load(bytes, "s");
  EXPECT_EQ(made(*maker, *kind, {0, 1}), before);
  expect_error(ErrorCode::kBadData, {"bad"}, [&] { maker->load(test::bytes_of("RIFF"), "bad"); });
}

}  // namespace
}  // namespace moil::data
