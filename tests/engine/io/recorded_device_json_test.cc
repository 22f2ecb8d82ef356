#include "engine/io/recorded_device_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::HasSubstr;

Json document() {
  return parsed_json(R"({
    "device": "a board", "note": "made up", "network": "net", "batch": 32,
    "layers": [
      {"name": "conv", "type": "conv2d", "FP": {"c": 1, "g": 0.5}, "BP": {"c": 2, "g": 3},
       "UP": {"c": 0.25}},
      {"name": "pool", "type": "max_pool", "FP": {"c": 0.1, "g": 0.2}}],
    "transfers": {"map": {"take": {"seconds": 1e-3, "seconds_per_byte": 0},
                          "give": {"seconds": 2e-3, "seconds_per_byte": 0}},
                  "copy": {"take": {"seconds": 3e-3, "seconds_per_byte": 1e-9},
                           "give": {"seconds": 4e-3, "seconds_per_byte": 2e-9}}}})");
}

TEST(RecordedDeviceJson, IsReadInFull) {
  const RecordedDevice device = parse_recorded_device(document().dump());
  EXPECT_EQ(device.device, "a board");
  EXPECT_EQ(device.batch, 32);
  const auto& conv = device.layers.at("conv");
  EXPECT_EQ(conv.passes[0]->at(kCpu), 1);
  EXPECT_EQ(conv.passes[1]->at(kSecondProcessor), 3);
  EXPECT_EQ(conv.passes[2]->at(kSecondProcessor), std::nullopt);
  EXPECT_EQ(device.layers.at("pool").passes[1], std::nullopt);
  EXPECT_TRUE(device.mapped.shares_memory);
  EXPECT_FALSE(device.copied.shares_memory);
  EXPECT_EQ(device.copied.give.seconds_per_byte, 2e-9);
}

TEST(RecordedDeviceJson, ComesBackAsItWasWritten) {
  const std::string text = format_recorded_device(parse_recorded_device(document().dump()));
  EXPECT_EQ(format_recorded_device(parse_recorded_device(text)), text);
  EXPECT_EQ(parsed_json(text), document());
}

void expect_refused(const Json& json, const std::string& what) {
  const std::string said = test::error_of(
      [&] { (void)parse_recorded_device(json.dump(), "board.json"); }, ErrorCode::kBadData);
  EXPECT_THAT(said, ::testing::AllOf(HasSubstr("board.json"), HasSubstr(what)));
}

TEST(RecordedDeviceJson, WhatIsWrongIsNamed) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = document();
    json[Json::json_pointer(pointer)] = value;
    return json;
  };
  expect_refused(with("/layers/0/FP/c", -1), "/layers/0/FP/c: expected a number of at least 0");
  expect_refused(with("/layers/0/FP/c", "1"), "/layers/0/FP/c");
  expect_refused(with("/layers/0/FP/x", 1), "/layers/0/FP/x: unknown key");
  expect_refused(with("/layers/1/name", "conv"), "\"conv\" is there twice");
  expect_refused(with("/batch", 0), "/batch");
  expect_refused(with("/transfers/map/take", Json::object()), "\"seconds\" is missing");
  Json without = document();
  without.erase("note");
  expect_refused(without, "\"note\" is missing");
}

TEST(RecordedDeviceJson, DeepNestingIsRefused) {
  EXPECT_THROW((void)parse_recorded_device(std::string(1'000'000, '[')), Error);
}

}  // namespace
}  // namespace moil
