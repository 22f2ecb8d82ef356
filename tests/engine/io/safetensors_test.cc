#include "engine/io/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/files/file.h"
#include "base/half_floats.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using test::expect_error;

WeightMap sample_weights() {
  return {{"stem.conv.weight", {{2, 1, 2, 1}, {1, -2, 0.5f, 3e-38f}}},
          {"stem.conv.bias", {{2}, {0, -0.f}}},
          {"scale", {{}, {7}}}};
}

class SafetensorsTest : public ::testing::Test {
 protected:
  // A file of this header, as many zero bytes, and what is read from it.
  Safetensors read_raw(const std::string& header, std::size_t data_bytes) {
    return read_bytes(framed(header) + std::string(data_bytes, '\0'));
  }
  static std::string framed(const std::string& header, std::uint64_t extra_length = 0) {
    const std::uint64_t length = header.size() + extra_length;
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    return text + header;
  }
  Safetensors read_bytes(const std::string& bytes) {
    write_file_atomic(file_, bytes);
    return read_safetensors(file_);
  }
  void expect_bad(const std::string& part, const std::string& header, std::size_t data_bytes) {
    SCOPED_TRACE(header.substr(0, 200));
    expect_error(ErrorCode::kBadData, part, [&] { (void)read_raw(header, data_bytes); });
    expect_error(ErrorCode::kBadData, file_.string(), [&] { (void)read_raw(header, data_bytes); });
  }

  test::ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "w.safetensors";
};

TEST_F(SafetensorsTest, RoundTrip) {
  write_safetensors(file_, sample_weights(), {{"format", "moil"}, {"n\"ote", "größe"}});
  const Safetensors read = read_safetensors(file_);
  EXPECT_EQ(read.metadata, (SafetensorsMetadata{{"format", "moil"}, {"n\"ote", "größe"}}));
  ASSERT_EQ(read.tensors.size(), 3u);
  for (const auto& [name, tensor] : sample_weights()) {
    EXPECT_EQ(read.tensors.at(name).dims, tensor.dims) << name;
    EXPECT_EQ(std::memcmp(read.tensors.at(name).data.data(), tensor.data.data(),
                          tensor.data.size() * sizeof(float)),
              0)
        << name;
  }
  EXPECT_EQ(folder_.files().size(), 1u);
}

TEST_F(SafetensorsTest, TheFormatToTheByte) {
  write_safetensors(file_, {{"w", {{2}, {1, 2}}}});
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const float data[] = {1, 2};
  EXPECT_EQ(read_text(file_),
            framed(padded) + std::string(reinterpret_cast<const char*>(data), sizeof data));
}

TEST_F(SafetensorsTest, EmptyMap) {
  write_safetensors(file_, {});
  EXPECT_TRUE(read_safetensors(file_).tensors.empty());
}

TEST_F(SafetensorsTest, ReadsHalvesOfBothKinds) {
  const std::uint16_t data[] = {0x3f80, 0xc000, 0x3c00, 0x0001, 0xfbff};
  const std::string header = R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
                             R"("h":{"dtype":"F16","shape":[3],"data_offsets":[4,10]}})";
  const Safetensors read =
      read_bytes(framed(header) + std::string(reinterpret_cast<const char*>(data), sizeof data));
  EXPECT_EQ(read.tensors.at("b").data, (std::vector<float>{1, -2}));
  EXPECT_EQ(read.tensors.at("h").data, (std::vector<float>{1, std::ldexp(1.f, -24), -65504}));
}

TEST_F(SafetensorsTest, ReadsLargeHalvesInPieces) {
  std::string data(2 * 100'000, '\0');
  for (std::size_t i = 0; i < 100'000; ++i) {
    const std::uint16_t bits = static_cast<std::uint16_t>(i % 0x7f00);
    std::memcpy(&data[2 * i], &bits, 2);
  }
  const std::string header = R"({"b":{"dtype":"BF16","shape":[100000],"data_offsets":[0,200000]}})";
  const Safetensors read = read_bytes(framed(header) + data);
  for (std::size_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(read.tensors.at("b").data[i], from_bf16(static_cast<std::uint16_t>(i % 0x7f00)));
  }
}

#if defined(__FLT16_MANT_DIG__) && defined(__x86_64__)
TEST(HalfFloatsTest, EveryF16AsTheCompilerSays) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(std::uint16_t(bits)));
    const float found = from_f16(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected))
          << bits;
    }
  }
}
#endif

// Every one, the middle between it and the next, and what lies beside that.
TEST(HalfFloatsTest, FloatsAreRoundedToTheNearestF16) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const float here = from_f16(static_cast<std::uint16_t>(bits));
    const float next = bits == 0x7bff ? 65536.0F : from_f16(static_cast<std::uint16_t>(bits + 1));
    const float middle = (here + next) / 2;
    ASSERT_EQ(to_f16(here), bits);
    ASSERT_EQ(to_f16(-here), bits | 0x8000u);
    ASSERT_EQ(to_f16(middle), bits + (bits & 1u)) << here;
    ASSERT_EQ(to_f16(std::nextafter(middle, here)), bits) << here;
    ASSERT_EQ(to_f16(std::nextafter(middle, next)), bits + 1) << here;
  }
  EXPECT_EQ(to_f16(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(to_f16(-1e30F), 0xfc00);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(HalfFloatsTest, Landmarks) {
  EXPECT_EQ(from_f16(0x7bff), 65504.f);
  EXPECT_EQ(from_f16(0x0400), std::ldexp(1.f, -14));
  EXPECT_EQ(from_f16(0x03ff), 1023 * std::ldexp(1.f, -24));
  EXPECT_TRUE(std::signbit(from_f16(0x8000)));
  EXPECT_EQ(from_f16(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_f16(0x7c01)));
  EXPECT_EQ(from_bf16(0x4049), 3.140625f);
}

TEST_F(SafetensorsTest, MissingFileAndFolder) {
  expect_error(ErrorCode::kNotFound, "w.safetensors", [&] { (void)read_safetensors(file_); });
  expect_error(ErrorCode::kIo, "regular file", [&] { (void)read_safetensors(folder_ / "."); });
}

TEST_F(SafetensorsTest, TruncatedAnywhere) {
  write_safetensors(file_, sample_weights());
  const std::string whole = read_text(file_);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    expect_error(ErrorCode::kBadData, "w.safetensors",
                 [&] { (void)read_bytes(whole.substr(0, length)); });
  }
}

TEST_F(SafetensorsTest, TrailingBytes) {
  write_safetensors(file_, sample_weights());
  const std::string longer = read_text(file_) + "x";
  expect_error(ErrorCode::kBadData, "1 trailing bytes", [&] { (void)read_bytes(longer); });
}

TEST_F(SafetensorsTest, HeaderLengthOutOfBounds) {
  expect_error(ErrorCode::kBadData, "only 10", [&] { (void)read_bytes(framed("{}", 1)); });
  expect_error(ErrorCode::kBadData, "more than 100000000",
               [&] { (void)read_bytes(std::string(8, '\xff') + "{}"); });
}

TEST_F(SafetensorsTest, HeaderThatIsNoTensorTable) {
  expect_bad("parse error", "{", 0);
  expect_bad("parse error", "", 0);
  expect_bad("parse error", "{} x", 0);
  expect_bad("expected an object", "[]", 0);
  expect_bad("expected an object", R"({"w":3})", 0);
  expect_bad("nests deeper", std::string(1'000'000, '['), 0);
  expect_bad("nests deeper", R"({"w":{"shape":[[1]]}})", 0);
  expect_bad("appears twice",
             R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
             R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
             8);
  expect_bad("/__metadata__: expected", R"({"__metadata__":[]})", 0);
  expect_bad("/__metadata__/a~1b: expected a string", R"({"__metadata__":{"a/b":1}})", 0);
}

// One tensor "w" of 8 bytes with one member replaced.
std::string header_with(const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
  return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST_F(SafetensorsTest, BadEntries) {
  const std::string f32 = R"("F32")";
  EXPECT_EQ(read_raw(header_with(f32, "[2]", "[0,8]"), 8).tensors.at("w").data.size(), 2u);
  expect_bad("\"w\": dtype is \"I64\"", header_with(R"("I64")", "[1]", "[0,8]"), 8);
  expect_bad("\"w\": dtype is 1", header_with("1", "[1]", "[0,8]"), 8);
  for (const char* shape : {"2", "[0]", "[-2]", "[2.0]", "[\"2\"]", "[99999999999999999999]",
                            "[4294967296,4294967296]", "[1e2]", "null"}) {
    expect_bad("\"w\": shape must be", header_with(f32, shape, "[0,8]"), 8);
  }
  std::string deep = "[1";
  for (int i = 0; i < 40; ++i) deep += ",1";
  expect_bad("\"w\": shape must be", header_with(f32, deep + "]", "[0,4]"), 4);
  for (const char* offsets : {"8", "[8]", "[0,4,8]", "[-1,8]", "[0,8.0]", "[0,null]"}) {
    expect_bad("\"w\": data_offsets must be", header_with(f32, "[2]", offsets), 8);
  }
  expect_bad("end before they begin", header_with(f32, "[2]", "[8,0]"), 8);
  expect_bad("reach to byte 16 of 8", header_with(f32, "[4]", "[0,16]"), 8);
  expect_bad("reach to byte 18446744073709551615",
             header_with(f32, "[4]", "[0,18446744073709551615]"), 8);
  expect_bad("its shape needs 12 bytes", header_with(f32, "[3]", "[0,8]"), 8);
  expect_bad("its shape needs 4 bytes", header_with(R"("F16")", "[2]", "[0,8]"), 8);
  expect_bad("4 bytes of no tensor", header_with(f32, "[1]", "[4,8]"), 8);
  expect_bad("data_offsets is missing", R"({"w":{"dtype":"F32","shape":[1]}})", 4);
  expect_bad("unknown key: extra",
             R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":1}})", 4);
  expect_bad("empty name", R"({"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
}

TEST_F(SafetensorsTest, OverlappingData) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  expect_bad("\"b\": its data overlaps", header, 12);
}

TEST_F(SafetensorsTest, RandomDamageIsAnErrorOrAValidFile) {
  write_safetensors(file_, sample_weights(), {{"k", "v"}});
  const std::string whole = read_text(file_);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    for (unsigned n = 0; n <= random() % 3; ++n) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try {
      for (const auto& [name, tensor] : read_bytes(damaged).tensors) {
        std::int64_t elements = 1;
        for (const std::int64_t dim : tensor.dims) elements *= dim;
        ASSERT_EQ(tensor.data.size(), static_cast<std::size_t>(elements)) << name;
      }
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), ErrorCode::kBadData) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(SafetensorsTest, RefusesToWriteWhatItCouldNotRead) {
  const auto expect_refused = [&](const std::string& part, const WeightMap& weights) {
    expect_error(ErrorCode::kInvalidArgument, part, [&] { write_safetensors(file_, weights); });
    EXPECT_EQ(folder_.files().size(), 0u);
  };
  expect_refused("\"w\": its dims hold 6", {{"w", {{2, 3}, {1}}}});
  expect_refused("\"w\": dimension 0", {{"w", {{0}, {}}}});
  expect_refused("__metadata__", {{"__metadata__", {{1}, {1}}}});
  expect_refused("\"\"", {{"", {{1}, {1}}}});
  expect_refused("UTF-8", {{"\xff", {{1}, {1}}}});
}

// A header is read in time that grows with its length: of quadratic readers, 40,000 tensors take
// half a minute.
TEST_F(SafetensorsTest, ManyTensorsAreReadAtOnce) {
  constexpr int kTensors = 40000;
  std::string header = "{";
  for (int i = 0; i < kTensors; ++i) {
    header += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" + std::to_string(4 * i) + "," +
              std::to_string(4 * i + 4) + "]}";
  }
  header += "}";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(read_raw(header, 4 * kTensors).tensors.size(), static_cast<std::size_t>(kTensors));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(SafetensorsTest, APipeIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_error(ErrorCode::kIo, "regular file", [&] { (void)read_safetensors(folder_ / "pipe"); });
}

}  // namespace
}  // namespace moil
