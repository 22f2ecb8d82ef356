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

TEST(Vocabulary, CharactersAreTheirPlacesInTheList) {
  const Vocabulary letters({"a", "ñ", "\n"});
  EXPECT_EQ(letters.symbols(), 5U);
  EXPECT_EQ(letters.padding(), 4U);
  EXPECT_THAT(letters.symbols_of(bytes_of("ñab\n")), ElementsAre(1, 0, 3, 2));
  EXPECT_EQ(letters.count(bytes_of("ñab\n")), 4U);
  const Vocabulary::Symbol symbols[] = {1, 3, 0, 4};
  EXPECT_EQ(letters.text_of(symbols),
            "ñ\xef\xbf\xbd"
            "a");
  EXPECT_EQ(letters.end_of("aañ", 2), "añ");
  EXPECT_EQ(letters.end_of("añ", 9), "añ");
}

TEST(Vocabulary, BytesThatAreNoUtf8AreOneOtherCharacterEach) {
  const Vocabulary letters({"a"});
  EXPECT_THAT(letters.symbols_of(bytes_of("a\xff\xc3")), ElementsAre(0, 1, 1));
  EXPECT_EQ(letters.count(bytes_of("a\xff\xc3")), 3U);
}

TEST(Vocabulary, AListThatIsNoneIsRefused) {
  const auto refused = [](std::vector<std::string> list, const char* why) {
    expect_error(ErrorCode::kInvalidArgument, {why}, [&] { (void)Vocabulary(std::move(list)); });
  };
  refused({}, "has 0 characters");
  refused({"a", "a"}, "\"a\" twice");
  refused({"ab"}, "not one character");
  refused({""}, "not one character");
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= Vocabulary::kMostCharacters; ++i) many.push_back("a");
  refused(many, "expected 1 to");
}

}  // namespace
}  // namespace moil::data
