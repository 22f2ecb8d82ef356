#include "datasets/kinds/rows/ids_kind.h"

#include <algorithm>
#include <chrono>

#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using ::testing::ElementsAre;

constexpr const char* kText = R"({"kind": "rows", "dims": [2],
    "columns": [{"name": "user", "ids": true}, {"name": "item", "ids": true}],
    "ids": ["user=1", "user=2", "item=1"]})";

KindPtr ratings() { return kind_from_json(parsed_json(kText)); }

std::vector<float> ids_made(const KindPtr& kind, const std::string& file) {
  return test::made(*kind, file);
}

TEST(IdsKind, ADescriptionReadsBack) {
  const KindPtr kind = ratings();
  EXPECT_EQ(kind->to_json(), parsed_json(kText));
  EXPECT_EQ(kind->name(), "rows");
  EXPECT_THAT(kind->inputs(), ElementsAre(ElementsAre(2)));
  EXPECT_EQ(kind->symbols(), 4);
  EXPECT_TRUE(kind->can_learn_symbols());
  EXPECT_TRUE(kind->has_views());
  EXPECT_TRUE(kind->takes(kCsv));
  EXPECT_NE(kind->fingerprint(), kind->with_symbols({"user=3"})->fingerprint());
}

TEST(IdsKind, WrongFieldsAreNamed) {
  const auto refused = [](const char* patch, const std::string& words) {
    nlohmann::json json = parsed_json(kText);
    json.merge_patch(parsed_json(patch));
    expect_error(ErrorCode::kInvalidArgument, {words}, [&] { (void)kind_from_json(json); });
  };
  refused(R"({"ids": null})", "'ids' is missing");
  refused(R"({"ids": ["user=1", "item=1", "user=1"]})", "'ids' has \"user=1\" twice");
  refused(R"({"ids": ["shop=1"]})", "'ids' has \"shop=1\"");
  refused(R"({"ids": ["user="]})", "'ids' has \"user=\"");
  refused(R"({"ids": ["user"]})", "'ids' has \"user\"");
  refused(R"({"ids": [1]})", "'ids' is of the wrong type");
  refused(R"({"dims": [3]})", "'dims'");
  refused(R"({"mean": [0, 0]})", "'mean' is of numbers");
  refused(R"({"hop": 2})", "'hop' is of numbers");
  refused(R"({"scale": 2})", "'scale'");
  refused(R"({"columns": [{"name": "user", "ids": true}, {"name": "age"}]})",
          "column \"age\" is none of ids");
  refused(R"({"columns": [{"name": "user", "ids": true}, {"name": "a=b", "ids": true}]})", "'='");
}

TEST(IdsKind, AnIdIsItsRow) {
  const KindPtr kind = ratings();
  EXPECT_THAT(ids_made(kind, "user,item\n2,1\n"), ElementsAre(2, 3));
  EXPECT_THAT(ids_made(kind, "rating;item;user\n4.5;1;1\n"), ElementsAre(1, 3)) << "by name";
  EXPECT_THAT(ids_made(kind, "1,1\n"), ElementsAre(1, 3)) << "in the columns' order";
  EXPECT_THAT(ids_made(kind, "user,item\n3,2\n"), ElementsAre(0, 0)) << "an item is no user";
  EXPECT_THAT(ids_made(kind, "user,item\n,1\n"), ElementsAre(0, 3));
  expect_error(ErrorCode::kBadData, {"it has no column \"item\""},
               [&] { (void)ids_made(kind, "user,shop\n1,1\n"); });
  // Else no list of them could be written.
  expect_error(ErrorCode::kBadData, {"column \"user\"", "UTF-8"},
               [&] { (void)ids_made(kind, "user,item\n\xff\xfe,1\n"); });
}

TEST(IdsKind, AnIdIsTheSameHoweverItIsTyped) {
  const KindPtr kind = ratings()->with_symbols({"user=\xc3\x9c"});
  EXPECT_THAT(ids_made(kind, "user,item\nU\xcc\x88,1\n"), ElementsAre(4, 3));
}

TEST(IdsKind, WhatItDoesNotKnowIsSaid) {
  const auto maker = ratings()->maker({});
  const auto remark = [&](const std::string& file) {
    maker->load(bytes_of(file), "sample");
    return maker->remark();
  };
  EXPECT_EQ(remark("user,item\n1,1\n"), "");
  EXPECT_THAT(remark("user,item\n7,1\n"), ::testing::HasSubstr("does not know user 7:"));
  EXPECT_THAT(remark("user,item\n7,\n"), ::testing::HasSubstr("user 7 and a missing item"));
}

TEST(IdsKind, LearnsIdsAtTheEnd) {
  const KindPtr kind = ratings();
  const auto unknown = [&](const KindPtr& of, const std::string& file) {
    return of->unknown_symbols(bytes_of(file), "sample");
  };
  EXPECT_THAT(unknown(kind, "user,item\n9,1\n"), ElementsAre("user=9"));
  EXPECT_THAT(unknown(kind, "user,item\n,8\n"), ElementsAre("item=8")) << "nothing is no id";
  const KindPtr more = kind->with_symbols({"item=8", "user=9"});
  EXPECT_EQ(more->symbols(), 6);
  EXPECT_THAT(ids_made(more, "user,item\n9,8\n"), ElementsAre(5, 4));
  EXPECT_THAT(ids_made(more, "user,item\n2,1\n"), ElementsAre(2, 3));
  EXPECT_TRUE(unknown(more, "user,item\n9,8\n").empty());
}

TEST(IdsKind, ViewsHideIdsNowAndThen) {
  const auto maker = ratings()->maker({});
  maker->load(bytes_of("user,item\n2,1\n"), "sample");
  std::size_t hidden = 0;
  constexpr std::uint16_t kViews = 2000;
  std::vector<float> out(2), again(2);
  for (std::uint16_t view = 0; view < kViews; ++view) {
    const Digest content = digest_of("2,1");
    maker->make(content, {view, 0}, out.data());
    maker->make(content, {view, 0}, again.data());
    EXPECT_EQ(out, again);
    if (view == 0) {
      EXPECT_THAT(out, ElementsAre(2, 3)) << "the plain one shows all";
    }
    hidden += static_cast<std::size_t>(std::ranges::count(out, 0.0F));
  }
  EXPECT_NEAR(static_cast<double>(hidden) / (2 * kViews), 1.0 / 16, 0.015);
}

// As many as a shop has, within a blink.
TEST(IdsKind, ManyIdsAreReadFast) {
  nlohmann::json json = parsed_json(kText);
  for (int i = 10; i < 200'000; ++i) json["ids"].push_back("item=" + std::to_string(i));
  const std::string text = json.dump(1);
  EXPECT_LT(text.size(), 5'000'000U);
  const auto begin = std::chrono::steady_clock::now();
  const KindPtr kind = kind_from_json(parsed_json(text));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(kind->symbols(), 199'994);
  EXPECT_THAT(ids_made(kind, "user,item\n1,199999\n"), ElementsAre(1, 199'993));
}

}  // namespace
}  // namespace moil::data
