#include "datasets/kinds/sound/sound_kind.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_background.h"
#include "datasets/sounds/sound_bytes.h"
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

TEST(SoundKind, ANetworkMayTakeSamples) {
  const KindPtr kind = kind_from_json(
      {{"kind", "sound"},
       {"front_end", {{"type", "samples"}, {"rate", 16000}, {"window", 16000}, {"hop", 4000}}}});
  EXPECT_EQ(kind->inputs(), (std::vector<Kind::Dims>{{16000}}));
  const auto samples = sweep(2);
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, samples);
  EXPECT_EQ(kind->parts(bytes, "sweep"), 5U);
  const auto maker = kind->maker({});
  maker->load(bytes, "sweep");
  for (std::uint32_t part = 0; part < 5; ++part) {
    const auto begin = samples.begin() + part * 4000;
    EXPECT_EQ(made(*maker, *kind, {0, part}), std::vector<float>(begin, begin + 16000)) << part;
  }
  EXPECT_NE(made(*maker, *kind, {1, 0}), made(*maker, *kind, {0, 0}));
  const KindPtr close = kind->with_hop(0.08);
  EXPECT_DOUBLE_EQ(close->endless_places().hop, 0.08);
  EXPECT_EQ(close->inputs(), kind->inputs());
  const auto word = encode_sound(SoundFormat::kWavFloat, 16000, 1, test::tone(16000, 440, 0.3));
  EXPECT_EQ(kind->parts(word, "word"), kShortPlaces);
  EXPECT_TRUE(kind->has_silence());
}

// Frames that patches share are computed once.
TEST(SoundKind, PartsMayLieCloser) {
  nlohmann::json deltas = kPlain;
  deltas["front_end"]["type"] = "log_mel_deltas";
  const auto samples = sweep(3);
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, samples);
  for (const nlohmann::json& description : {kPlain, deltas}) {
    const KindPtr kind = kind_from_json(description), close = kind->with_hop(0.0801);
    const PartPlaces places = close->endless_places();
    EXPECT_DOUBLE_EQ(places.hop, 0.08);
    EXPECT_DOUBLE_EQ(places.length, 0.975);
    EXPECT_EQ(close->inputs(), kind->inputs());
    const std::uint32_t parts = close->parts(bytes, "sweep");
    EXPECT_EQ(parts, 27U);
    const auto sliding = close->maker({}), anew = kind->maker({});
    sliding->stream(std::make_shared<SoundBytesInMemory>(bytes), "sweep");
    for (std::uint32_t part = 0; part < parts; ++part) {
      const auto found = made(*sliding, *close, {0, part});
      EXPECT_EQ(sliding->parts().has_value(), part + 1 == parts) << part;
      const auto begin = samples.begin() + part * 1280;
      const std::vector<float> window(begin, std::min(begin + 15600, samples.end()));
      std::vector<float> whole = window;
      whole.resize(15600);
      anew->load(encode_sound(SoundFormat::kWavFloat, 16000, 1, whole), "window");
      EXPECT_EQ(found, made(*anew, *kind, {0, 0})) << part;
    }
    EXPECT_EQ(sliding->parts()->count, parts);
    EXPECT_DOUBLE_EQ(sliding->parts()->places.end, 3);
  }
  EXPECT_DOUBLE_EQ(kind_from_json(kPlain)->with_hop(0)->endless_places().hop, 0.01);
  EXPECT_DOUBLE_EQ(kind_from_json(kPlain)->with_hop(7)->endless_places().hop, 0.96);
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

// From the beginning of a patch to its end.
TEST(SoundKind, AShortSoundIsShownInSeveralPlacesOverLowNoise) {
  const KindPtr kind = kind_from_json(kPlain);
  for (const int rate : {16000, 8000}) {
    const auto bytes = encode_sound(SoundFormat::kWav16, rate, 1, test::tone(rate, 440, 0.2));
    ASSERT_EQ(kind->parts(bytes, "knock"), kShortPlaces);
    const auto maker = kind->maker({});
    maker->load(bytes, "knock");
    std::vector<float> patch(kind->floats());
    std::set<std::size_t> drawn;
    for (const char* content : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      for (std::uint32_t part = 0; part < kShortPlaces; ++part) {
        for (std::uint16_t view = 0; view < 3; ++view) {
          maker->make(digest_of(content), {view, part}, patch.data());
          EXPECT_TRUE(maker->has_signal());
          const std::size_t at = begins(patch), room = 96 - 18;
          EXPECT_LE(at, room) << "all of it is there";
          if (view == 0) {
            EXPECT_NEAR(static_cast<double>(at), part * 77.0 / (kShortPlaces - 1), 4)
                << "the same of every content";
          } else {
            drawn.insert(at);
          }
          const auto first = patch;
          maker->make(digest_of(content), {view, part}, patch.data());
          EXPECT_EQ(patch, first) << "the same each time";
          if (view > 0) continue;
          EXPECT_GT(std::ranges::count_if(patch, [](float x) { return x > std::log(0.00101F); }),
                    std::ssize(patch) / 4)
              << "around it is no digital silence";
        }
      }
    }
    EXPECT_GT(drawn.size(), 20U) << "of views somewhere";
  }
}

// What is recorded at 8,000 samples a second has nothing above 4,000 Hz, and so has what lies
// around it and the silence that is shown in its place.
TEST(SoundKind, BackgroundHasTheRecordingsBand) {
  const KindPtr kind = kind_from_json(kPlain);
  constexpr std::size_t kAbove = 54;  // a band of 64; 5,000 Hz and more
  for (const int rate : {8000, 16000, 44100}) {
    const auto bytes = encode_sound(SoundFormat::kWav16, rate, 1, test::tone(rate, 440, 0.2));
    const auto maker = kind->maker({});
    maker->load(bytes, "knock");
    std::vector<float> patch(kind->floats());
    std::size_t low = 0, high = 0;
    for (int i = 0; i < 8; ++i) {
      for (const std::uint32_t part : {0U, kShortPlaces - 1, kSilence}) {
        maker->make(digest_of(std::to_string(i)), {0, part}, patch.data());
        for (std::size_t k = 40 * 64; k < 56 * 64; ++k)  // where no tone is
          (k % 64 < kAbove ? low : high) += patch[k] > std::log(0.0015F) ? 1 : 0;
      }
    }
    EXPECT_GT(low, 1000U) << rate;
    if (rate == 8000)
      EXPECT_LT(high, 100U);
    else
      EXPECT_GT(high, 500U) << rate;
  }
}

TEST(SoundKind, ShortOnesAreAsLoudAsTheySay) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto loudest = [&](float factor) {
    auto samples = test::tone(16000, 440, 0.2);
    for (float& s : samples) s *= factor;
    const auto maker = kind->maker({});
    maker->load(encode_sound(SoundFormat::kWavFloat, 16000, 1, samples), "loud");
    return std::ranges::max(made(*maker, *kind, {}));
  };
  EXPECT_NEAR(loudest(8) - loudest(1), std::log(8), 0.05) << "beyond full scale";
}

TEST(SoundKind, AllPartsOfAShortSoundLieOverAllOfIt) {
  const KindPtr kind = kind_from_json(kPlain);
  for (const double seconds : {0.2, 0.9, 0.97}) {
    const auto bytes = encode_sound(SoundFormat::kWav16, 16000, 1, sweep(seconds));
    const auto places = kind->part_places(bytes, "knock");
    ASSERT_TRUE(places);
    EXPECT_EQ(places->hop, 0);
    EXPECT_DOUBLE_EQ(places->length, seconds);
    EXPECT_DOUBLE_EQ(places->end, seconds);
  }
  const auto patch = encode_sound(SoundFormat::kWav16, 16000, 1, sweep(0.975));
  EXPECT_EQ(kind->parts(patch, "patch"), 1U) << "what fills a patch has nothing around it";
  EXPECT_GT(kind->part_places(patch, "patch")->hop, 0);
}

// Parts are counted by what a file says of itself, or by what is read of it.
TEST(SoundKind, PartsAreAsManyHoweverTheyAreCounted) {
  const KindPtr kind = kind_from_json(kPlain);
  for (const auto format : {SoundFormat::kWav16, SoundFormat::kFlac, SoundFormat::kVorbis}) {
    for (const int rate : {16000, 8000, 44100}) {
      for (const double seconds : {0.3, 0.975, 1.2, 1.455, 3.0}) {
        const auto bytes = encode_sound(format, rate, 1, test::tone(rate, 440, seconds));
        const std::uint32_t parts = kind->parts(bytes, "tone");
        const auto signal = kind->signal(bytes, "tone");
        EXPECT_EQ(signal.parts, parts) << rate << " " << seconds;
        for (const std::uint32_t part : signal.silent) EXPECT_LT(part, parts);
      }
    }
  }
}

TEST(SoundKind, PartsWithoutASignalAreTold) {
  const auto silent_in = [](double floor, const std::vector<float>& samples) {
    nlohmann::json json = kPlain;
    json["floor_db"] = floor;
    const KindPtr kind = kind_from_json(json);
    EXPECT_EQ(kind_from_json(kind->to_json())->fingerprint(), kind->fingerprint());
    const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, samples);
    const auto silent = kind->signal(bytes, "clip").silent;
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
  EXPECT_EQ(silent_in(-60, std::vector<float>(1600)), (Parts{0, 1, 2, 3, 4, 5})) << "a short one";
  EXPECT_EQ(silent_in(-60, std::vector<float>(15600)), Parts{0}) << "one of a patch";
}

TEST(SoundKind, ASilentSoundIsSaidToBe) {
  const KindPtr kind = kind_from_json(kPlain);
  const auto maker = kind->maker({});
  const auto remark_on = [&](const std::vector<float>& samples) {
    const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, samples);
    maker->load(bytes, "clip");
    for (std::uint32_t part = 0; part < kind->parts(bytes, "clip"); ++part)
      (void)made(*maker, *kind, {0, part});
    return maker->remark();
  };
  std::vector<float> late = std::vector<float>(std::size_t{3} * 16000);
  EXPECT_NE(remark_on(late).find("as loud as -60 dB"), std::string::npos);
  std::ranges::copy(test::tone(16000, 440, 0.1), late.end() - 1600);
  EXPECT_EQ(remark_on(late), "");
  EXPECT_NE(remark_on(std::vector<float>(1600)).find("it is silent"), std::string::npos);
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
