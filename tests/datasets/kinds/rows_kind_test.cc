#include "datasets/kinds/rows/rows_kind.h"

#include <cmath>

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "datasets/tables/csv_table.h"
#include "datasets/tables/numbers.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using ::testing::ElementsAre;

std::vector<float> made(const KindPtr& kind, const std::string& file) {
  return test::made(*kind, file);
}

TEST(RowsKind, ADescriptionReadsBack) {
  const KindPtr kind = rows_kind({{5, 2}, {1, 2}, {3, 4}});
  const KindPtr read = kind_from_json(kind->to_json());
  EXPECT_EQ(read->name(), "rows");
  EXPECT_EQ(read->to_json(), kind->to_json());
  EXPECT_EQ(read->fingerprint(), kind->fingerprint());
  EXPECT_NE(read->fingerprint(), rows_kind({{5, 2}, {1, 2}, {3, 5}})->fingerprint());
  EXPECT_THAT(read->inputs(), ElementsAre(ElementsAre(5, 2)));
  EXPECT_FALSE(read->has_views());
  EXPECT_TRUE(read->takes(kCsv));
  EXPECT_TRUE(read->takes(kNpy));
  EXPECT_FALSE(read->takes(kJpeg));
}

TEST(RowsKind, WrongFieldsAreNamed) {
  const auto refused = [](const char* json, const std::string& field) {
    expect_error(ErrorCode::kInvalidArgument, {field},
                 [&] { (void)kind_from_json(parsed_json(json)); });
  };
  refused(R"({"kind": "rows", "dims": [], "mean": [], "std": []})", "'dims'");
  refused(R"({"kind": "rows", "dims": [1, 1, 1, 1], "mean": [0], "std": [1]})", "'dims'");
  refused(R"({"kind": "rows", "dims": [100000, 100000], "mean": [0], "std": [1]})", "'dims'");
  refused(R"({"kind": "rows", "dims": [2], "mean": [0], "std": [1, 1]})", "'mean'");
  refused(R"({"kind": "rows", "dims": [2], "mean": [0, 0], "std": [1, 0]})", "'std'");
  refused(R"({"kind": "rows", "dims": [2], "mean": [0, 0], "std": [1, 1], "scale": 2})", "'scale'");
}

TEST(RowsKind, NormalisesByColumn) {
  const KindPtr kind = rows_kind({{2, 3}, {1, 2, 3}, {1, 2, 4}});
  EXPECT_THAT(made(kind, "1,2,3\n2,4,7\n"), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(made(kind, "x;y;z\n1;2;3\n2;4;7\n"), ElementsAre(0, 0, 0, 1, 1, 1));
}

// As everything of rank 4 in the engine.
TEST(RowsKind, ChannelsOfThreeDimsComeLast) {
  const KindPtr kind = rows_kind({{2, 1, 3}, {0, 10}, {1, 1}});
  EXPECT_THAT(made(kind, "1,2,3\n11,12,13\n"), ElementsAre(1, 1, 2, 2, 3, 3));
}

TEST(RowsKind, ALineAndAColumnAreOneDimension) {
  const KindPtr kind = rows_kind({{3}, {0, 0, 0}, {1, 1, 1}});
  EXPECT_THAT(made(kind, "1, 2, 3\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(made(kind, "1\n2\n3"), ElementsAre(1, 2, 3));
}

TEST(RowsKind, ARecordingIsSeenInWindows) {
  const KindPtr kind = kind_from_json({{"kind", "rows"},
                                       {"dims", {2, 2}},
                                       {"mean", {0, 0}},
                                       {"std", {1, 1}},
                                       {"hop", 3},
                                       {"answer", "maximum"}});
  EXPECT_EQ(kind_from_json(kind->to_json())->fingerprint(), kind->fingerprint());
  nlohmann::json joined = kind->to_json();  // another way alone: the same windows are seen
  joined["answer"] = "mean";
  EXPECT_EQ(kind_from_json(joined)->fingerprint(), kind->fingerprint());
  joined["hop"] = 2;
  EXPECT_NE(kind_from_json(joined)->fingerprint(), kind->fingerprint());
  EXPECT_TRUE(kind->has_parts());
  EXPECT_EQ(kind->part_answer(), PartAnswer::kMaximum);
  const std::string text = "1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n";
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const auto first = std::span(bytes);
  EXPECT_EQ(kind->parts(first, ""), 2U);  // lines 0, 1 and 3, 4
  const auto places = kind->part_places(first, "");
  ASSERT_TRUE(places);
  EXPECT_EQ(std::tuple(places->hop, places->length, places->end, places->unit),
            std::tuple(3.0, 2.0, 6.0, "lines"));
  EXPECT_EQ(kind->parts(first.first(text.find("9")), ""), 1U);              // four lines
  EXPECT_THROW((void)kind->parts(first.first(text.find("3")), ""), Error);  // one
  const auto maker = kind->maker({});
  maker->load(bytes, "");
  std::vector<float> out(4);
  maker->make({}, {0, 1}, out.data());
  EXPECT_THAT(out, ElementsAre(7, 8, 9, 10));
}

TEST(RowsKind, WhatDoesNotFitIsNamed) {
  const KindPtr kind = rows_kind({{2, 2}, {0, 0}, {1, 1}});
  const auto refused = [&](const std::string& file, const std::vector<std::string>& words) {
    expect_error(ErrorCode::kBadData, words, [&] { (void)made(kind, file); });
  };
  refused("1,2,3\n4,5,6\n", {"sample: ", "2x3", "2x2"});
  refused("1,2\n3\n", {"sample: ", "line 2"});
  refused("1,2\n3,nan\n", {"line 2", "'nan'"});
  refused("1,2\n3,1e999\n", {"line 2", "'1e999'"});
  refused("1,2\n3,x\n", {"line 2", "'x'"});
  refused("", {"no number"});
  refused("a,b\n", {"no number"});
}

TEST(Numbers, NpyReadsBack) {
  const std::vector<float> values = {1.5F, -2, 3e7F};
  const Numbers read = read_numbers(encode_npy(values), "x");
  EXPECT_THAT(read.shape, ElementsAre(3));
  EXPECT_THAT(read.values, ElementsAre(1.5, -2, 3e7));
  EXPECT_EQ(media_type_of(encode_npy(values)), kNpy);
}

std::string npy(const std::string& header, const std::string& data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

TEST(Numbers, NpyOfOtherTypesAndShapes) {
  const auto read = [](const std::string& file) { return read_numbers(bytes_of(file), "x"); };
  const std::string shorts("\x01\x00\xff\xff\x03\x00\x04\x00", 8);
  const Numbers two =
      read(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }\n", shorts));
  EXPECT_THAT(two.shape, ElementsAre(2, 2));
  EXPECT_THAT(two.values, ElementsAre(1, -1, 3, 4));
  EXPECT_THAT(read(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\x07")).values,
              ElementsAre(7));
}

// All that NumPy writes of numbers is read, or refused with a message that does not claim it.
TEST(Numbers, NpyOfEveryTypeIsReadOrRefusedByItsName) {
  const std::pair<const char*, std::size_t> taken[] = {
      {"|b1", 1}, {"|i1", 1}, {"|u1", 1}, {"<i2", 2}, {"<u2", 2}, {"<i4", 4},
      {"<u4", 4}, {"<i8", 8}, {"<u8", 8}, {"<f2", 2}, {"<f4", 4}, {"<f8", 8}};
  const auto file = [](const std::string& type, const std::string& data) {
    return bytes_of(
        npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,), }", data));
  };
  for (const auto& [type, bytes] : taken)
    EXPECT_THAT(read_numbers(file(type, std::string(2 * bytes, '\0')), "x").values,
                ElementsAre(0, 0))
        << type;
  EXPECT_THAT(read_numbers(file("<f2", std::string("\x00\x3e\x00\xc0", 4)), "x").values,
              ElementsAre(1.5, -2));
  for (const char* type :
       {">f4", ">i2", "<c8", "<c16", "<f16", "|S1", "<U1", "|O", "<M8[s]", "|V2"})
    expect_error(ErrorCode::kBadData, {std::string("'") + type, "floats of 2, 4 and 8 bytes"},
                 [&] { (void)read_numbers(file(type, std::string(32, '\0')), "x"); });
}

TEST(Numbers, DamagedNpyIsRefused) {
  const auto refused = [](const std::string& file, const std::string& word) {
    expect_error(ErrorCode::kBadData, {"x: ", word},
                 [&] { (void)read_numbers(bytes_of(file), "x"); });
  };
  const std::string four(4, '\0');
  refused("\x93NUMPY", "header");
  refused(std::string("\x93NUMPY\x09\x00\x00\x00", 10), "version");
  refused(std::string("\x93NUMPY\x01\x00\xff\xff", 10), "header");
  refused(npy("{}", four), "'shape'");
  refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", four), "Fortran");
  refused(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", four), "type");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four), "8");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four), "'shape'");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000)}", four),
          "shorter");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", ""), "no number");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
              std::string("\x00\x00\xc0\x7f", 4)),
          "not finite");
}

TEST(RowsKind, MeansAndDeviationsAreTheDatas) {
  test::TempFolder folder;
  test::write_text(folder / "t.csv", "a,kind,b\n1,x,5\n3,x,5\n5,y,5\n");
  const CsvTable table(folder / "t.csv", {.label_column = "kind", .split = {}});
  const std::size_t all[] = {0, 1, 2};
  const RowsDescription rows = describe_rows({2}, table, all);
  EXPECT_THAT(rows.mean, ElementsAre(3, 5));
  EXPECT_NEAR(rows.stddev[0], std::sqrt(8.0 / 3), 1e-12);
  EXPECT_EQ(rows.stddev[1], 1);  // it never changes
  expect_error(ErrorCode::kBadData, {"t.csv:2", "holds 2", "takes 3"},
               [&] { (void)describe_rows({3}, table, all); });
}

TEST(MediaType, NumbersAreToldFromText) {
  const auto type = [](const std::string& text) { return media_type_of(bytes_of(text)); };
  for (const char* csv :
       {"1,2,3\n4,5,6\n", "1.5", "-1e3;+2\r\n", "1\t2\n", "x,y\n1,2\n", "nan,1\n", "a b\n1 2\n"})
    EXPECT_EQ(type(csv), kCsv) << csv;
  std::string longer;
  for (int i = 0; i < 400; ++i) longer += "0.125,";
  EXPECT_EQ(type(longer), kCsv);
  for (const char* text : {"hello", "a,b\n", "1,two\n", "{\"a\": 1}", ",,,\n", "12:30\n",
                           "Dear all,\nbye\n", "one two\nthree 4\n"})
    EXPECT_EQ(type(text), "text/plain") << text;
}

// What `label add` takes and what `predict` reads is one: a head may be long, in quotes, behind a
// byte-order mark, or lack the name of its first column, and a record may lack its first value.
TEST(MediaType, AHeadIsReadAlikeByAll) {
  std::string many, zeros;
  for (int i = 0; i < 60; ++i) {
    many += (i > 0 ? "," : "") + std::string("a_long_name_of_a_column_") + std::to_string(i);
    zeros += i > 0 ? ",0" : "0";
  }
  const std::string quoted = "\"" + std::string(3000, 'x') + ", and more\"";
  const std::pair<std::string, std::size_t> tables[] = {
      {many + "\n" + zeros + "\n", 60},
      {quoted + ",b\n1,2\n", 2},
      {"\"a\",\"b\"\n\"1\",\"2\"\n", 2},
      {"\"1\",\"2\"\n", 2},
      {"\xef\xbb\xbf"
       "1,2,3\n",
       3},
      {"\xef\xbb\xbf"
       "a,b\n1,2\n",
       2},
      {"\n\na,b\n1,2\n", 2},
      {"id,2019,2020\n1,2,3\n", 3},
      {"value\n7\n", 1},
      {",a,b\n0,1,2\n", 2},  // as pandas writes its index
      {"Unnamed: 0,a\n0,1\n", 1},
      {"a\tb\r\n1\t2\r\n", 2},
  };
  for (const auto& [text, numbers] : tables) {
    EXPECT_EQ(media_type_of(bytes_of(text)), kCsv) << text.substr(0, 60);
    const Numbers read = read_numbers(bytes_of(text), "x");
    EXPECT_EQ(read.shape, (std::vector<std::int64_t>{1, static_cast<std::int64_t>(numbers)}))
        << text.substr(0, 60);
  }
  // Taken, and refused with the line and not passed over as names are.
  for (const char* text : {",2,3\n4,5,6\n", "NA,2\n",
                           "\xef\xbb\xbf"
                           "1,\n"}) {
    EXPECT_EQ(media_type_of(bytes_of(text)), kCsv) << text;
    expect_error(ErrorCode::kBadData, {"x: line 1", "no finite number"},
                 [&] { (void)read_numbers(bytes_of(text), "x"); });
  }
}

TEST(MediaType, TextInUtf16IsNamed) {
  const std::string little(
      "\xff\xfe"
      "1\0,\0"
      "2\0",
      8),
      big("\xfe\xff"
          "\0"
          "1\0,",
          6);
  const std::string bare = little.substr(2), bare_big = big.substr(2);
  for (const std::string& text : {little, big, bare, bare_big}) {
    EXPECT_EQ(media_type_of(bytes_of(text)), kUtf16);
    EXPECT_FALSE(is_taken(kUtf16));
    expect_error(ErrorCode::kBadData, {"UTF-16", "save it as UTF-8"},
                 [&] { (void)read_numbers(bytes_of(text), "x"); });
  }
  EXPECT_NE(media_refusal(kUtf16).find("save it as UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace moil::data
