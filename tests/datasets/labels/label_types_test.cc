#include "datasets/labels/label_types.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;

TEST(SampleMedia, WhatNoModelReadsIsRefusedByName) {
  const auto refused = [&](std::string_view content, const std::string& name) {
    expect_error(ErrorCode::kBadData, {name, "JPEG, PNG and WebP"},
                 [&] { check_sample_media(bytes_of(content)); });
  };
  using namespace std::string_view_literals;
  refused("not a photo\n", "it is text");
  refused(
      "\0\0\0\x1c"
      "ftypheic\0\0\0\0"sv,
      "a HEIC photo");
  refused("BM\x36\0\x0c\0"sv, "a BMP picture");
  refused("\0\0\0\1Bud1\0\0"sv, ".DS_Store");
  refused("GIF89a\1\0\1\0"sv, "a GIF picture");
  refused("\1\2\3\4\5\6\7"sv, "of no known kind");
  EXPECT_NO_THROW(check_sample_media(bytes_of("RIFF0000WAVEfmt ")));
}

}  // namespace
}  // namespace moil::data
