#include "engine/io/model_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/files/file.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using test::expect_error;

ModelDescription sample() {
  return {"tiny",
          {{"image", {1, 8, 8}}},
          {{"conv",
            "conv2d",
            {"image"},
            {{"out_channels", std::int64_t{4}},
             {"bias", false},
             {"padding", std::vector<std::int64_t>{1, 2}}}},
           {"relu", "relu", {"conv"}, {}},
           {"odd",
            "custom",
            {"relu", "relu:1"},
            {{"mode", std::string("a \"b\" ü")},
             {"rate", 0.1},
             {"whole", 2.0},
             {"scales", std::vector<double>{1, 0.5, 1e-9}}}}},
          {"odd"}};
}

void expect_equal(const ModelDescription& a, const ModelDescription& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.inputs.size(), b.inputs.size());
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    EXPECT_EQ(a.inputs[i].name, b.inputs[i].name);
    EXPECT_EQ(a.inputs[i].dims, b.inputs[i].dims);
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].name, b.layers[i].name);
    EXPECT_EQ(a.layers[i].type, b.layers[i].type);
    EXPECT_EQ(a.layers[i].inputs, b.layers[i].inputs);
    EXPECT_EQ(a.layers[i].properties, b.layers[i].properties) << a.layers[i].name;
  }
}

// The smallest model, with one piece of its text replaced.
std::string with(const std::string& piece, const std::string& replacement) {
  std::string text = R"({"format": "moil-model", "version": 1, "name": "m",)"
                     R"("inputs": [{"name": "x", "dims": [3]}],)"
                     R"("layers": [{"name": "f", "type": "fully_connected", "inputs": ["x"],)"
                     R"("properties": {"units": 2}}], "outputs": ["f"]})";
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), replacement);
}

void expect_bad(const std::string& part, const std::string& text) {
  SCOPED_TRACE(text.substr(0, 300));
  expect_error(ErrorCode::kBadData, part, [&] { (void)parse_model(text, "m.json"); });
  expect_error(ErrorCode::kBadData, "m.json: ", [&] { (void)parse_model(text, "m.json"); });
}

TEST(ModelJsonTest, RoundTrip) {
  const std::string text = format_model(sample());
  expect_equal(parse_model(text), sample());
  EXPECT_EQ(format_model(parse_model(text)), text);
}

TEST(ModelJsonTest, WritesOneLineALayer) {
  ModelDescription model = sample();
  model.layers.pop_back();
  model.outputs = {"relu"};
  EXPECT_EQ(format_model(model), R"({
  "format": "moil-model",
  "version": 1,
  "name": "tiny",
  "inputs": [
    {"name": "image", "dims": [1, 8, 8]}
  ],
  "layers": [
    {"name": "conv", "type": "conv2d", "inputs": ["image"], "properties": {"bias": false, "out_channels": 4, "padding": [1, 2]}},
    {"name": "relu", "type": "relu", "inputs": ["conv"]}
  ],
  "outputs": ["relu"]
}
)");
}

TEST(ModelJsonTest, TheExampleOfTheDocumentation) {
  const std::string page =
      read_text(std::filesystem::path(MOIL_SOURCE_DIR) / "docs/model-format.md");
  const std::string opening = "```json\n";
  const std::size_t begin = page.find(opening) + opening.size();
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_EQ(format_model(parse_model(example, "docs/model-format.md")), example);
}

TEST(ModelJsonTest, WritingIsAFixedPointWhateverTheOrder) {
  const std::string shuffled =
      R"({"outputs":["f"],"layers":[{"inputs":["x"],"properties":{"units":2,"bias":true},)"
      R"("type":"fully_connected","name":"f"}],"inputs":[{"dims":[3],"name":"x"}],)"
      R"("version":1,"format":"moil-model","name":"m"})";
  const std::string once = format_model(parse_model(shuffled));
  EXPECT_EQ(format_model(parse_model(once)), once);
  expect_equal(parse_model(once), parse_model(shuffled));
}

TEST(ModelJsonTest, Files) {
  const test::ScratchFolder folder;
  write_model(folder / "m.json", sample());
  expect_equal(read_model(folder / "m.json"), sample());
  expect_error(ErrorCode::kNotFound, "n.json", [&] { (void)read_model(folder / "n.json"); });
  write_file_atomic(folder / "n.json", "{");
  expect_error(ErrorCode::kBadData, "n.json: parse error",
               [&] { (void)read_model(folder / "n.json"); });
}

TEST(ModelJsonTest, NumbersKeepTheirKind) {
  const auto property = [](const std::string& value) {
    return parse_model(with(R"("units": 2)", R"("p": )" + value)).layers[0].properties.at("p");
  };
  EXPECT_EQ(property("2"), Property(std::int64_t{2}));
  EXPECT_EQ(property("-9223372036854775808"), Property(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(property("2.0"), Property(2.0));
  EXPECT_EQ(property("[1, 2]"), Property(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(property("[1, 2.5]"), Property(std::vector<double>{1, 2.5}));
  EXPECT_EQ(property("[]"), Property(std::vector<std::int64_t>{}));
}

TEST(ModelJsonTest, NotJson) {
  expect_bad("parse error", "");
  expect_bad("parse error at line 1, column 4", "{} {}");
  expect_bad("the document: expected an object", "[]");
  expect_bad("nests deeper", std::string(1'000'000, '['));
  expect_bad("nests deeper", with(R"("units": 2)", R"("p": [[1]])"));
  expect_bad("\"name\" appears twice", with(R"("name": "m")", R"("name": "m", "name": "n")"));
  expect_bad("number overflow", with(R"("units": 2)", R"("p": 1e999)"));
  expect_bad("error", with(R"("name": "m")", "\"name\": \"\xff\""));
}

TEST(ModelJsonTest, WrongFormatOrVersion) {
  expect_bad("\"format\" is missing", "{}");
  expect_bad("/format: expected \"moil-model\", found \"onnx\"", with("moil-model", "onnx"));
  expect_bad("/version: this program reads version 1, the file has version 2",
             with(R"("version": 1)", R"("version": 2, "later": true)"));
  expect_bad("/version: expected a whole number", with(R"("version": 1)", R"("version": "1")"));
}

TEST(ModelJsonTest, UnknownKeys) {
  expect_bad("/extra: unknown key; known here: format,",
             with(R"("name": "m")", R"("name": "m", "extra": 1)"));
  expect_bad("/inputs/0/shape: unknown key", with("dims", "shape"));
  expect_bad("/layers/0/units: unknown key; known here: name, type, inputs, properties",
             with(R"("type": )", R"("units": 2, "type": )"));
}

TEST(ModelJsonTest, MissingKeys) {
  expect_bad("the document: \"name\" is missing", with(R"("name": "m",)", ""));
  expect_bad("/layers/0: \"type\" is missing", with(R"("type": "fully_connected",)", ""));
  expect_bad("/inputs/0: \"dims\" is missing", with(R"(, "dims": [3])", ""));
}

TEST(ModelJsonTest, WrongTypes) {
  expect_bad("/name: expected a non-empty string, found 1", with(R"("m")", "1"));
  expect_bad("/name: expected a non-empty string, found \"\"", with(R"("m")", R"("")"));
  expect_bad("/inputs: expected a list of inputs, found an object",
             with(R"([{"name": "x", "dims": [3]}])", "{}"));
  expect_bad("/inputs/0/dims/0: expected a whole number of at least 1, found 0",
             with("[3]", "[0]"));
  expect_bad("/inputs/0/dims/0: expected a whole number", with("[3]", "[99999999999999999999]"));
  expect_bad("/inputs/0/dims/0: expected a whole number", with("[3]", "[9223372036854775808]"));
  expect_bad("/inputs/0/dims: expected 1 to 5 dimensions", with("[3]", "[]"));
  expect_bad("/inputs/0/dims: expected 1 to 5 dimensions", with("[3]", "[1, 1, 1, 1, 1, 1]"));
  expect_bad("/layers/0/inputs/0: expected a non-empty string, found null",
             with(R"(["x"])", "[null]"));
  expect_bad("/layers/0/properties: expected an object, found an array",
             with(R"({"units": 2})", "[]"));
  expect_bad("/layers/0/properties/a~1b: expected a flag", with(R"("units": 2)", R"("a/b": null)"));
  expect_bad("/layers/0/properties/p: expected a flag", with(R"("units": 2)", R"("p": {})"));
  expect_bad("/layers/0/properties/p/1: expected a number, found \"2\"",
             with(R"("units": 2)", R"("p": [1, "2"])"));
  expect_bad("/outputs/0: expected", with(R"("outputs": ["f"])", R"("outputs": [3])"));
}

TEST(ModelJsonTest, NamesAreUniqueAmongLayersAndInputs) {
  expect_bad("/layers/0/name: the name \"x\" is taken", with(R"("name": "f")", R"("name": "x")"));
}

TEST(ModelJsonTest, RefusesToWriteWhatJsonCannotSay) {
  ModelDescription model = sample();
  model.layers[2].properties["rate"] = std::numeric_limits<double>::infinity();
  expect_error(ErrorCode::kInvalidArgument, "\"odd\": property \"rate\"",
               [&] { (void)format_model(model); });
  model = sample();
  model.name = "\xff";
  expect_error(ErrorCode::kInvalidArgument, "UTF-8", [&] { (void)format_model(model); });
}

}  // namespace
}  // namespace moil
