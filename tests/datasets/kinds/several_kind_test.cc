#include "datasets/kinds/several/several_kind.h"

#include <gmock/gmock.h>

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Bytes tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<test::TarEntry> entries;
  for (const auto& [name, text] : files) entries.push_back({name, test::bytes_of(text)});
  return test::tar_of(entries);
}

const Json kDescription = {
    {"kind", "several"},
    {"inputs",
     {{{"file", "gyro"}, {"kind", "rows"}, {"dims", {2}}, {"mean", {0, 1}}, {"std", {1, 2}}},
      {{"file", "volt"}, {"kind", "rows"}, {"dims", {1}}, {"mean", {3}}, {"std", {1}}}}}};

std::string refusal(const Json& description) {
  return moil::test::error_of([&] { (void)kind_from_json(description); });
}

std::string bad_data(const Bytes& archive) {
  return moil::test::error_of(
      [&] { kind_from_json(kDescription)->maker({})->load(archive, "sample 7"); },
      ErrorCode::kBadData);
}

TEST(SeveralKind, ADescriptionReadsBack) {
  const KindPtr kind = kind_from_json(kDescription);
  EXPECT_EQ(kind_from_json(kind->to_json())->fingerprint(), kind->fingerprint());
  EXPECT_THAT(kind->inputs(), ElementsAre(ElementsAre(2), ElementsAre(1)));
  EXPECT_EQ(kind->floats(), 3U);
  EXPECT_FALSE(kind->has_views());
  Json other = kDescription;
  other["inputs"][0]["file"] = "gyro2";
  EXPECT_NE(kind_from_json(other)->fingerprint(), kind->fingerprint());
}

TEST(SeveralKind, EachFileIsAnInput) {
  const auto maker = kind_from_json(kDescription)->maker({});
  const Bytes archive = tar({{"a/volt.csv", "5\n"}, {"a/gyro.csv", "1,7\n"}, {"notes.txt", "x"}});
  ASSERT_EQ(media_type_of(archive), kTar);
  maker->load(archive, "sample");
  std::vector<float> out(3);
  maker->make({}, {}, out.data());
  EXPECT_THAT(out, ElementsAre(1, 3, 2));
}

TEST(SeveralKind, DamagedAndOtherArchivesAreNamed) {
  EXPECT_THAT(bad_data(tar({{"gyro.csv", "1,2"}})), HasSubstr("no file called \"volt\""));
  EXPECT_THAT(bad_data(tar({{"gyro.csv", "1,2"}, {"gyro.npy", "x"}, {"volt.csv", "1"}})),
              HasSubstr("several files called \"gyro\""));
  EXPECT_THAT(bad_data(tar({{"gyro.csv", "1,2,3"}, {"volt.csv", "1"}})),
              HasSubstr("sample 7, gyro: it holds 1x3 numbers; the model takes 2"));
  Bytes cut = tar({{"gyro.csv", std::string(4000, '1')}, {"volt.csv", "1"}});
  cut.resize(1024);
  EXPECT_THAT(bad_data(cut), HasSubstr("sample 7"));
  EXPECT_THAT(bad_data({1, 2, 3}), HasSubstr("no sound tar archive"));
}

TEST(SeveralKind, WrongDescriptionsAreNamed) {
  EXPECT_THAT(refusal({{"kind", "several"}, {"inputs", Json::array()}}), HasSubstr("0 entries"));
  EXPECT_THAT(refusal({{"kind", "several"}, {"inputs", 3}}), HasSubstr("no list"));
  Json twice = kDescription, path = kDescription, nested = kDescription;
  twice["inputs"][1]["file"] = "gyro";
  path["inputs"][1]["file"] = "../volt";
  nested["inputs"][1] = kDescription;
  nested["inputs"][1]["file"] = "volt";
  EXPECT_THAT(refusal(twice), HasSubstr("twice"));
  EXPECT_THAT(refusal(path), HasSubstr("without a dot or a slash"));
  EXPECT_THAT(refusal(nested), HasSubstr("itself"));
}

// A kind of a user's own, through what the headers offer: the number of bytes.
class SizeKind final : public Kind {
  class Maker final : public SampleMaker {
   public:
    void load(std::span<const std::uint8_t> bytes, std::string_view) override {
      size_ = static_cast<float>(bytes.size());
    }
    void make(const Digest&, PartView, float* out) override { *out = size_; }
    void release() override {}

   private:
    float size_ = 0;
  };

 public:
  std::string_view name() const override { return "size"; }
  Json to_json() const override { return {{"kind", "size"}}; }
  std::string fingerprint() const override { return digest_of("size").hex(); }
  std::vector<Dims> inputs() const override { return {{1}}; }
  bool takes(std::string_view) const override { return true; }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t>,
                                           std::uint64_t) const override {
    return 1;
  }
  bool has_views() const override { return false; }
  std::unique_ptr<SampleMaker> maker(const ViewRules&) const override {
    return std::make_unique<Maker>();
  }
};

TEST(Kind, AnotherOneIsRegistered) {
  register_kind("size", [](const Json&) { return std::make_shared<SizeKind>(); });
  EXPECT_THROW(register_kind("size", {}), Error);
  const auto maker = kind_from_json({{"kind", "size"}})->maker({});
  float size = 0;
  maker->load(Bytes(7), "");
  maker->make({}, {}, &size);
  EXPECT_EQ(size, 7);
}

}  // namespace
}  // namespace moil::data
