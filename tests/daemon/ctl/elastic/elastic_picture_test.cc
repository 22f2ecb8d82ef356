#include "daemon/ctl/elastic/elastic_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::block_tensors;
using test::count;
using test::elastic_result;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ElasticPicture, TellsTensorsEpochsAndImportance) {
  const std::string svg =
      draw_elastic_picture("A title", read_elastic_report(elastic_result(block_tensors(5), 2)));
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr("</svg>\n"));
  for (const char* words :
       {">A title<", ">tensors, from the input to the output<", ">epochs<", ">1-3<", ">4-6<",
        ">block1.conv.kernel<", ">share of the importance<", ">50.0%<",
        "<title>block5.bn.beta, epochs 4-6: trained, 50.0% of the importance</title>",
        "<title>block1.bn.beta, epochs 4-6: not trained, 0.0% of the importance</title>"})
    EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_EQ(count(svg, "<title>"), 30U);
  EXPECT_EQ(count(svg, ": trained"), 3U);
}

TEST(ElasticPicture, TextsAreEscaped) {
  Json result = elastic_result({"<script>&\"\x1b.kernel"}, 1);
  result["remark"] = "1 < 2 & 3";
  const std::string svg = draw_elastic_picture("<b>", read_elastic_report(result));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;?.kernel"));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(svg, HasSubstr("1 &lt; 2 &amp; 3"));
}

TEST(ElasticPicture, HostileSizesAreBounded) {
  std::vector<std::string> names;
  for (int i = 0; i < 9'000; ++i) names.push_back(std::string(500, '&') + std::to_string(i));
  Json result{{"tensors", names}, {"intervals", Json(900, Json::object())}};
  result["remark"] = std::string(1'000'000, 'x');
  const std::string svg =
      draw_elastic_picture(std::string(100'000, '<'), read_elastic_report(result));
  EXPECT_LT(svg.size(), 25'000'000U);
  EXPECT_EQ(count(svg, "<title>"), 400U * 50);
}

TEST(ElasticPicture, WithoutImportanceOrAnything) {
  Json result = elastic_result(block_tensors(1), 1);
  result["intervals"][0].erase("importance");
  const std::string svg = draw_elastic_picture("", read_elastic_report(result));
  EXPECT_THAT(svg, Not(HasSubstr("importance")));
  EXPECT_THAT(svg, HasSubstr(">trained<"));
  EXPECT_THAT(draw_elastic_picture("", {}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace moil::daemon::ctl
