#include "datasets/kinds/tokens/vocabulary.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using ::testing::ElementsAre;

TEST(Vocabulary, BytesAreTheirNumbers) {
  const Vocabulary bytes;
  EXPECT_TRUE(bytes.is_of_bytes());
  EXPECT_EQ(bytes.symbols(), 257U);
  EXPECT_EQ(bytes.padding(), 256U);
  EXPECT_THAT(bytes.symbols_of(bytes_of(std::string("a\0\xff", 3))), ElementsAre(97, 0, 255));
  EXPECT_EQ(bytes.count(bytes_of("añ")), 3U);
  const Vocabulary::Symbol symbols[] = {104, 105, 256};
  EXPECT_EQ(bytes.text_of(symbols), "hi");
  EXPECT_EQ(bytes.end_of("añ", 1), "\xb1") << "a byte, wherever it stands";
}

TEST(Vocabulary, CharactersFollowAnyOtherAndPadding) {
  const Vocabulary letters({"a", "ñ", "\n"});
  EXPECT_EQ(letters.symbols(), 5U);
  EXPECT_EQ(letters.padding(), 1U);
  EXPECT_THAT(letters.symbols_of(bytes_of("ñab\n")), ElementsAre(3, 2, 0, 4));
  EXPECT_EQ(letters.count(bytes_of("ñab\n")), 4U);
  const Vocabulary::Symbol symbols[] = {3, 0, 2, 1};
  EXPECT_EQ(letters.text_of(symbols),
            "ñ\xef\xbf\xbd"
            "a");
  EXPECT_EQ(letters.end_of("aañ", 2), "añ");
  EXPECT_EQ(letters.end_of("añ", 9), "añ");
}

TEST(Vocabulary, BytesThatAreNoUtf8AreOneOtherCharacterEach) {
  const Vocabulary letters({"a"});
  EXPECT_THAT(letters.symbols_of(bytes_of("a\xff\xc3")), ElementsAre(2, 0, 0));
  EXPECT_EQ(letters.count(bytes_of("a\xff\xc3")), 3U);
}

TEST(Vocabulary, GrowsByCharactersThatAreStrange) {
  const Vocabulary none{std::vector<std::string>()};
  EXPECT_EQ(none.symbols(), 2U);
  EXPECT_FALSE(none.is_of_bytes());
  const Vocabulary letters({"b"});
  const auto strange = letters.strange_in(bytes_of("añb\xff\xc3 a"));
  EXPECT_THAT(strange, ElementsAre(" ", "a", "ñ")) << "what is no UTF-8 is no character";
  const Vocabulary more = letters.with({strange.begin(), strange.end()});
  EXPECT_THAT(more.characters(), ElementsAre("b", " ", "a", "ñ"));
  EXPECT_THAT(more.symbols_of(bytes_of("bñ")), ElementsAre(2, 5));
  EXPECT_TRUE(Vocabulary().strange_in(bytes_of("a")).empty());
}

TEST(Vocabulary, GrowsToItsMostAndNoFurther) {
  std::vector<std::string> many;
  for (std::size_t i = 0; many.size() <= Vocabulary::kMostCharacters; ++i) {
    const auto byte = [&](std::size_t shift, unsigned mark) {
      return static_cast<char>(mark | ((i >> shift) & 0x3FU));
    };
    // Of four bytes, from U+10000 on.
    many.push_back({static_cast<char>(0xF0), byte(12, 0x90), byte(6, 0x80), byte(0, 0x80)});
    if (i + 1 == 0x30000) FAIL();
  }
  const Vocabulary all = Vocabulary({"a"}).with(many);
  EXPECT_EQ(all.characters().size(), Vocabulary::kMostCharacters);
  EXPECT_EQ(all.with({"b"}).characters().size(), Vocabulary::kMostCharacters);
}

TEST(Vocabulary, AListThatIsNoneIsRefused) {
  const auto refused = [](std::vector<std::string> list, const char* why) {
    expect_error(ErrorCode::kInvalidArgument, {why}, [&] { (void)Vocabulary(std::move(list)); });
  };
  refused({"a", "a"}, "\"a\" twice");
  refused({"ab"}, "not one character");
  refused({""}, "not one character");
  refused({"\xff"}, "not one character");
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= Vocabulary::kMostCharacters; ++i) many.push_back("a");
  refused(many, "expected 65000 at most");
}

}  // namespace
}  // namespace moil::data
