// Elastic training drawn in letters and as a picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "daemon/ctl/elastic/elastic_chart.h"
#include "daemon/ctl/elastic/elastic_picture.h"
#include "daemon/ctl/text.h"
#include "tests/daemon/ctl/support.h"

namespace moil::daemon::ctl {
namespace {

using test::block_tensors;
using test::count;
using test::elastic_result;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Screen kTerminal{.terminal = true, .utf8 = true, .columns = 80, .rows = 40};

ElasticReport made_up(std::size_t blocks, std::size_t intervals) {
  return read_elastic_report(elastic_result(block_tensors(blocks), intervals));
}

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) most = std::max(most, width(line));
  return most;
}

TEST(ElasticChart, ARowATensorFromTheInputToTheOutput) {
  EXPECT_EQ(draw_elastic_chart(made_up(1, 2), kTerminal),
            "TENSOR                               IMPORTANCE\n"
            "block1.conv.kernel  ······· ·······        0.0%\n"
            "block1.bn.gamma     ······· ███████       25.0%\n"
            "block1.bn.beta      ███████ ███████       75.0%\n"
            "EPOCHS              1-3     4-6\n"
            "█ trained  · not");
}

TEST(ElasticChart, PlainLettersWithoutATerminalOrUtf8) {
  const std::string plain = draw_elastic_chart(made_up(1, 2), {});
  EXPECT_THAT(plain, HasSubstr("block1.bn.gamma     ....... #######"));
  for (const char c : plain) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  Screen latin = kTerminal;
  latin.utf8 = false;
  EXPECT_EQ(draw_elastic_chart(made_up(1, 2), latin), plain);
}

TEST(ElasticChart, HundredsOfTensorsFitATerminal) {
  for (const std::size_t columns : {1U, 40U, 80U, 100U, 1'000U}) {
    for (const std::size_t rows : {0U, 24U, 60U}) {
      Screen screen = kTerminal;
      screen.columns = columns;
      screen.rows = rows;
      for (const std::size_t intervals : {1U, 6U, 100U}) {
        const std::string chart = draw_elastic_chart(made_up(71, intervals), screen);
        EXPECT_LE(widest(chart), std::max<std::size_t>(40, columns));
        EXPECT_LT(count(chart, "\n"), std::max<std::size_t>(24, rows));
      }
    }
  }
}

TEST(ElasticChart, GroupedRowsTellHowManyTensorsTheyHold) {
  const std::string chart = draw_elastic_chart(made_up(30, 6), kTerminal);
  EXPECT_THAT(chart, HasSubstr("block30 (3)"));
  EXPECT_THAT(chart, HasSubstr("▒▒▒"));
  EXPECT_THAT(chart, HasSubstr("█ all"));
}

TEST(ElasticChart, WithoutATerminalARowATensorUpToAThousand) {
  EXPECT_EQ(count(draw_elastic_chart(made_up(71, 2), {}), "block"), 213U);
  EXPECT_LE(count(draw_elastic_chart(made_up(2'000, 2), {}), "\n"), 1'003U);
}

TEST(ElasticChart, WithoutImportanceNoSuchColumn) {
  Json result = elastic_result(block_tensors(1), 1);
  result["intervals"][0].erase("importance");
  EXPECT_THAT(draw_elastic_chart(read_elastic_report(result), kTerminal),
              Not(HasSubstr("IMPORTANCE")));
}

TEST(ElasticChart, NothingToDraw) {
  EXPECT_EQ(draw_elastic_chart({}, kTerminal), "");
  EXPECT_EQ(draw_elastic_chart(made_up(1, 0), kTerminal), "");
}

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
