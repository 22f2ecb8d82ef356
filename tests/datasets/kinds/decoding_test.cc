#include "datasets/kinds/decoding.h"

#include "datasets/images/codec.h"
#include "datasets/tables/numbers.h"
#include "tests/datasets/animation.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"

namespace moil::data {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::bytes_of;
using test::pattern;

Bytes cut(Bytes bytes) {
  bytes.resize(bytes.size() * 2 / 3);
  return bytes;
}

void expect_refused(const Bytes& bytes, const std::string& words) {
  test::expect_error(ErrorCode::kBadData, {"it cannot be read", words},
                     [&] { check_decodes(bytes, "it cannot be read"); });
}

TEST(Decoding, WholePhotosOfEveryFormatAndSizeAreTaken) {
  for (const int side : {20, 1000}) {
    const Image photo = pattern(side, side, 3);
    for (const Bytes& bytes :
         {encode_jpeg(photo, 80), encode_png(photo), test::encode_webp(photo)}) {
      EXPECT_NO_THROW(check_decodes(bytes, "x"));
      expect_refused(cut(bytes), "");
    }
  }
  EXPECT_NO_THROW(check_decodes(
      test::animated_webp(8, 8, {{test::encode_webp(pattern(8, 8, 3)), 0, 0, 8, 8}}), "x"));
}

TEST(Decoding, ASoundThatHoldsNothingIsRefused) {
  const auto tone = test::tone(16000, 440, 0.5);
  for (const auto format :
       {test::SoundFormat::kWav16, test::SoundFormat::kFlac, test::SoundFormat::kVorbis}) {
    const Bytes bytes = test::encode_sound(format, 16000, 1, tone);
    EXPECT_NO_THROW(check_decodes(bytes, "x"));
  }
  const Bytes whole = test::encode_sound(test::SoundFormat::kWav16, 16000, 1, tone);
  EXPECT_NO_THROW(check_decodes(cut(whole), "x")) << "it counts as far as it goes";
  expect_refused(bytes_of("OggS"), "");
  expect_refused(bytes_of(std::string("RIFF\0\0\0\0WAVEfmt ", 16)), "");
}

TEST(Decoding, NumbersAreReadToTheirEnd) {
  for (const char* text : {"1,2,3\n", "a,b\n1,2\n3,4\n", "7", "age,colour\n31,red\n"})
    EXPECT_NO_THROW(check_decodes(bytes_of(text), "x")) << text;
  expect_refused(bytes_of("1,2,3\n4,5,6\n7,8\n"), "line 3");
  expect_refused(bytes_of("1,2\n3,4\n5,x\n"), "line 3");
  const std::vector<float> numbers(100, 0.5F);
  EXPECT_NO_THROW(check_decodes(encode_npy(numbers), "x"));
  expect_refused(cut(encode_npy(numbers)), "");
}

TEST(Decoding, EachFileOfAnArchiveIsTried) {
  const Bytes photo = encode_png(pattern(8, 8, 3));
  EXPECT_NO_THROW(check_decodes(
      test::tar_of(
          {{"photo.png", photo}, {"sensor.csv", bytes_of("1,2\n")}, {"a.txt", bytes_of("hi")}}),
      "x"));
  expect_refused(test::tar_of({{"photo.png", cut(photo)}, {"sensor.csv", bytes_of("1,2\n")}}),
                 "photo.png");
  expect_refused(test::tar_of({{"a.txt", bytes_of("hello, you")}}), "holds no photo");
}

TEST(Decoding, OfWhatNoModelReadsTheKindIsNamed) {
  expect_refused(bytes_of("GIF89a"), "it is a GIF picture");
  expect_refused(bytes_of("%PDF-1.7"), "it is a PDF document");
  EXPECT_NO_THROW(check_decodes(bytes_of("milk, bread"), "x")) << "text is what it is";
}

}  // namespace
}  // namespace moil::data
