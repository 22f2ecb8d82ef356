#include "datasets/kinds/tokens/tokens_kind.h"

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using ::testing::ElementsAre;

KindPtr text_windows(std::int64_t length, std::int64_t hop = 0) {
  TokensDescription description;
  description.length = length;
  description.hop = hop;
  return tokens_kind(std::move(description));
}

KindPtr ends(std::int64_t length) {
  TokensDescription description;
  description.length = length;
  description.ends = true;
  return tokens_kind(std::move(description));
}

std::vector<float> part_of(const Kind& kind, std::string_view file, std::uint32_t part) {
  const auto maker = kind.maker({});
  maker->load(bytes_of(file), "sample");
  std::vector<float> values(kind.floats());
  maker->make({}, {0, part}, values.data());
  return values;
}

TEST(TokensKind, ADescriptionReadsBack) {
  for (const char* json : {R"({"kind": "tokens", "length": 8})",
                           R"({"kind": "tokens", "length": 8, "hop": 3, "vocabulary": "bytes"})",
                           R"({"kind": "tokens", "length": 8, "vocabulary": ["a", "ñ"]})",
                           R"({"kind": "tokens", "length": 8, "vocabulary": []})",
                           R"({"kind": "tokens", "length": 8, "take": "ends"})"}) {
    const KindPtr kind = kind_from_json(parsed_json(json));
    const KindPtr read = kind_from_json(kind->to_json());
    EXPECT_EQ(read->to_json(), kind->to_json());
    EXPECT_EQ(read->fingerprint(), kind->fingerprint());
    EXPECT_EQ(read->name(), "tokens");
    EXPECT_THAT(read->inputs(), ElementsAre(ElementsAre(8)));
  }
  EXPECT_EQ(text_windows(8)->to_json()["hop"], 7) << "one symbol is in two windows";
  EXPECT_EQ(text_windows(8)->symbols(), 257);
  EXPECT_NE(text_windows(8)->fingerprint(), text_windows(8, 4)->fingerprint());
}

TEST(TokensKind, WrongFieldsAreNamed) {
  const auto refused = [](const char* json, const char* why) {
    expect_error(ErrorCode::kInvalidArgument, {why},
                 [&] { (void)kind_from_json(parsed_json(json)); });
  };
  refused(R"({"kind": "tokens"})", "'length' is missing");
  refused(R"({"kind": "tokens", "length": 1})", "'length' is 1");
  refused(R"({"kind": "tokens", "length": 8, "hop": 9})", "'hop' is 9");
  refused(R"({"kind": "tokens", "length": 8, "hop": 4, "take": "ends"})",
          "'hop' goes with windows");
  refused(R"({"kind": "tokens", "length": 7, "take": "ends"})", "an even 'length'");
  refused(R"({"kind": "tokens", "length": 8, "take": "ends", "vocabulary": ["a"]})",
          "goes with bytes");
  refused(R"({"kind": "tokens", "length": 8, "take": "all"})", "'take' is \"all\"");
  refused(R"({"kind": "tokens", "length": 8, "vocabulary": "words"})", "'vocabulary' is neither");
  refused(R"({"kind": "tokens", "length": 8, "words": 1})", "unknown field 'words'");
}

TEST(TokensKind, WindowsOfATextOverlapAndTheLastIsFilledUp) {
  const KindPtr kind = text_windows(4);
  EXPECT_THAT(part_of(*kind, "abcdef", 0), ElementsAre(97, 98, 99, 100));
  EXPECT_THAT(part_of(*kind, "abcdef", 1), ElementsAre(100, 101, 102, 256));
  EXPECT_EQ(kind->parts(bytes_of("abcdef"), "x"), 2U);
  EXPECT_EQ(kind->part_places(bytes_of("abcdef"), "x")->unit, "symbols");
}

// Each symbol but the first is behind another in some window; none is left out at the end.
TEST(TokensKind, EverySymbolIsInAWindow) {
  for (const std::int64_t hop : {1, 2, 3, 4}) {
    const KindPtr kind = text_windows(4, hop);
    for (std::size_t length = 1; length < 20; ++length) {
      std::string text;
      for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('a' + i);
      const std::uint32_t parts = kind->parts(bytes_of(text), "x");
      std::set<float> seen;
      for (std::uint32_t part = 0; part < parts; ++part) {
        const auto values = part_of(*kind, text, part);
        EXPECT_NE(values[0], 256) << length << ", part " << part;
        seen.insert(values.begin(), values.end());
      }
      seen.erase(256);
      EXPECT_EQ(seen.size(), length) << "hop " << hop;
    }
  }
}

TEST(TokensKind, EndsOfAFileLieApart) {
  const KindPtr kind = ends(6);
  EXPECT_THAT(part_of(*kind, " \tabcdefgh\n\n", 0), ElementsAre(97, 98, 99, 102, 103, 104));
  EXPECT_THAT(part_of(*kind, "ab", 0), ElementsAre(97, 98, 256, 256, 97, 98));
  EXPECT_THAT(part_of(*kind, "   ", 0), ElementsAre(256, 256, 256, 256, 256, 256));
  EXPECT_FALSE(kind->has_parts());
}

TEST(TokensKind, CharactersCanBeLearnedAndBytesNeedNot) {
  const KindPtr kind = kind_from_json(
      parsed_json(R"({"kind": "tokens", "length": 4, "hop": 2, "vocabulary": ["a"]})"));
  ASSERT_TRUE(kind->can_learn_symbols());
  EXPECT_THAT(kind->unknown_symbols(bytes_of("aña b"), "x"), ElementsAre(" ", "b", "ñ"));
  const KindPtr more = kind->with_symbols({"b", "ñ"});
  EXPECT_EQ(more->symbols(), 5);
  EXPECT_EQ(more->to_json()["hop"], 2);
  EXPECT_THAT(part_of(*more, "ñz", 0), ElementsAre(4, 0, 1, 1)) << "z is of what nobody knows";
  EXPECT_FALSE(text_windows(4)->can_learn_symbols());
  EXPECT_FALSE(ends(4)->can_learn_symbols());
}

TEST(TokensKind, WindowsAreOfTextAndEndsOfAnyFile) {
  for (const auto media : {kText, kCsv}) EXPECT_TRUE(text_windows(4)->takes(media));
  for (const auto media : {kJpeg, kNpy, kUnknownMedia, kUtf16}) {
    EXPECT_FALSE(text_windows(4)->takes(media));
    EXPECT_TRUE(ends(4)->takes(media));
  }
}

TEST(TokensKind, TakesNoMoreMemoryThanItPromises) {
  const std::string text(100'000, 'x');
  const KindPtr kind =
      kind_from_json(parsed_json(R"({"kind": "tokens", "length": 8, "vocabulary": ["x"]})"));
  const auto promised = kind->working_bytes({}, text.size());
  ASSERT_TRUE(promised);
  const auto symbols = tokens_of(*kind)->vocabulary.symbols_of(bytes_of(text));
  EXPECT_GE(*promised, text.size() + symbols.capacity() * sizeof(symbols[0]));
  EXPECT_EQ(tokens_of(*kind_from_json(
                parsed_json(R"({"kind": "rows", "dims": [1], "mean": [0], "std": [1]})"))),
            nullptr);
}

}  // namespace
}  // namespace moil::data
