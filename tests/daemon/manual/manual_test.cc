// Pages and completion of a command line that was made up to be hard to write down.
#include "daemon/manual/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/manual/completion.h"
#include "daemon/manual/pages.h"

namespace moil::manual {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Manual : public ::testing::Test {
 protected:
  Manual() {
    app_.add_option("--where", where_, ".hidden\\path [of it's: kind] | more")
        ->envname("WHERE")
        ->capture_default_str();
    app_.add_flag("--secret", secret_, "not for people")->group("");
    CLI::App* one = app_.add_subcommand("one-thing", "does one thing");
    one->add_option("FILE", files_, "what to do it with")->required();
    one->add_option("--kind,-k", kind_, "of thing")->check(CLI::IsMember({"red", "round"}));
    app_.add_subcommand("gone", "no longer there")->group("");
    add_manual(cli::Command(&app_), 8, {{"/here/conf", "/there/conf"}});
  }
  Command table() const { return command_table(app_); }
  std::string printed(const std::string& format) {
    try {
      app_.parse("--manual " + format);
    } catch (const CLI::CallForVersion& page) {
      return page.what();
    }
    return "";
  }

  CLI::App app_{"trial reads /here/conf.", "trial"};
  std::string where_ = "here", kind_;
  std::vector<std::string> files_;
  bool secret_ = false;
};

TEST_F(Manual, TheTableHasAllButWhatIsHidden) {
  const Command all = table();
  ASSERT_EQ(all.options.size(), 2U);  // --help and --where
  EXPECT_EQ(all.options[1].standard, "here");
  EXPECT_EQ(all.options[1].environment, "WHERE");
  ASSERT_EQ(all.commands.size(), 1U);
  const Command& one = all.commands[0];
  EXPECT_EQ(synopsis(one, "trial one-thing"), "trial one-thing [OPTIONS] FILE...");
  const Option& kind = one.options[1];
  EXPECT_THAT(kind.names, ElementsAre("--kind", "-k"));
  EXPECT_THAT(kind.choices, ElementsAre("red", "round"));
  EXPECT_EQ(full_help(kind), "Of thing. One of red, round.");
}

TEST_F(Manual, RoffReadsNothingAsACommand) {
  const std::string page = man_page(table(), 8);
  EXPECT_THAT(page, HasSubstr(".TH TRIAL 8 "));
  EXPECT_THAT(page, HasSubstr("trial \\- reads /here/conf\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.hidden\\epath [of it's: kind] | more. Default: here. "));
  EXPECT_THAT(page, HasSubstr(".B WHERE\nStands for \\-\\-where"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

TEST_F(Manual, CellsOfATableStayInTheirCells) {
  EXPECT_THAT(markdown_page(table()),
              HasSubstr("kind] \\| more. Default: here. Also set by WHERE. |\n"));
}

TEST_F(Manual, ShellsGetTheirOwnQuotes) {
  EXPECT_THAT(zsh_completion(table()),
              HasSubstr(R"('--where[.hidden\\path \[of it'\''s\: kind\] | more]:TEXT:_files')"));
  EXPECT_THAT(fish_completion(table()),
              HasSubstr(R"(-l where -r -d '.hidden\\path [of it\'s: kind] | more')"));
  EXPECT_THAT(bash_completion(table()), HasSubstr(R"("one-thing/--kind") words="red round" ;;)"));
}

TEST_F(Manual, TheHiddenOptionPrintsThemAsInAPackage) {
  EXPECT_THAT(printed("markdown"), HasSubstr("Trial reads /there/conf."));
  EXPECT_THAT(printed("json"), HasSubstr("\"section\": 8"));
  EXPECT_THROW(printed("runes"), CLI::ValidationError);
}

}  // namespace
}  // namespace moil::manual
