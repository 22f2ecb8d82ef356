#include "datasets/kinds/image/image_kind.h"

#include "base/json/json.h"
#include "datasets/images/codec.h"
#include "datasets/labels/media_type.h"
#include "datasets/transforms/transform.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;

Preprocessing description() {
  Preprocessing p;
  p.height = 6;
  p.width = 5;
  p.mean = {1, 2, 3};
  p.stddev = {4, 5, 6};
  return p;
}

TEST(ImageKind, ADescriptionReadsBack) {
  const KindPtr kind = image_kind(description());
  const KindPtr read = kind_from_json(kind->to_json());
  EXPECT_EQ(read->name(), "image");
  EXPECT_EQ(read->to_json(), kind->to_json());
  EXPECT_EQ(read->fingerprint(), description().fingerprint());
  EXPECT_EQ(read->inputs(), (std::vector<Kind::Dims>{{3, 6, 5}}));
  EXPECT_EQ(read->floats(), 90U);
}

// Models and packs of before kinds had names.
TEST(ImageKind, ADescriptionWithoutAKindIsAnImages) {
  EXPECT_EQ(kind_from_json(description().to_json())->name(), "image");
}

TEST(ImageKind, UnknownKindsAndWrongFieldsAreNamed) {
  nlohmann::json json = image_kind(description())->to_json();
  json["height"] = -1;
  expect_error(ErrorCode::kInvalidArgument, {"'height'"}, [&] { (void)kind_from_json(json); });
  json["kind"] = "smell";
  expect_error(ErrorCode::kInvalidArgument, {"'kind'", "\"smell\"", "\"image\""},
               [&] { (void)kind_from_json(json); });
  json["kind"] = 3;
  expect_error(ErrorCode::kInvalidArgument, {"'kind'"}, [&] { (void)kind_from_json(json); });
  expect_error(ErrorCode::kInvalidArgument, {}, [] { (void)kind_from_json({1, 2}); });
}

TEST(ImageKind, AMakerDecodesAndTransforms) {
  const KindPtr kind = image_kind(description());
  const Image image = test::pattern(9, 7, 3);
  const auto maker = kind->maker({.flip = true});
  maker->load(encode_png(image), "photo");
  Transform transform(description());
  std::vector<float> made(kind->floats()), expected(kind->floats());
  const Digest content = digest_of(image.pixels);
  for (const std::uint16_t view : {0, 1, 2, 5}) {
    maker->make(content, {view}, made.data());
    transform.apply(image, view_of(content, view, true), expected.data());
    EXPECT_EQ(made, expected) << view;
  }
  maker->load(encode_png(test::pattern(40, 30, 3)), "photo");
  EXPECT_TRUE(maker->likeness().has_value());
  maker->release();
  expect_error(ErrorCode::kBadData, {"photo: "},
               [&] { maker->load(test::bytes_of("\x89PNG\r\n\x1a\nbroken"), "photo"); });
}

TEST(ImageKind, TellsWhatDecodingTakesByTheHeader) {
  const KindPtr kind = image_kind(description());
  const auto file = encode_png(test::pattern(90, 70, 3));
  const auto bytes = kind->working_bytes(file, file.size());
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(*bytes, file.size() + 90U * 70 * 3);
  EXPECT_FALSE(kind->working_bytes(std::span(file).first(4), file.size()).has_value());
}

TEST(ImageKind, TakesPhotosAlone) {
  const KindPtr kind = image_kind(description());
  for (const auto media : {kJpeg, kPng, kWebp}) EXPECT_TRUE(kind->takes(media));
  for (const auto media : {kWav, kOgg, kUnknownMedia}) EXPECT_FALSE(kind->takes(media));
}

}  // namespace
}  // namespace moil::data
