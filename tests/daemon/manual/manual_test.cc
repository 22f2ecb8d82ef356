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

std::string help_of(cli::Program& program) { return program.app().help(); }

TEST(Help, SaysWhatAValueIsAndNeverHowItIsKept) {
  int count = 0;
  double share = 0;
  std::string file, model;
  std::vector<std::string> labels;
  std::optional<int> perhaps;
  cli::Program program("trial tries.", "trial", "trial 1");
  program.add_option("FILE", file, "what to try").required();
  program.add_option("--count", count, "so many").check(cli::within(1, 9)).capture_default_str();
  program.add_option("--share", share).check(cli::not_negative());
  program.add_option("-o,--out=DIR", file, "where to");
  program.add_option("--class-names", model);
  program.add_option("--label", labels, "may come again").one_value_each_time();
  program.add_option("--perhaps=SECONDS", perhaps);
  program.add_option("--kind", model, "which").check(cli::one_of({"red", "round"})).required();
  const std::string help = help_of(program);
  for (const char* line :
       {"Usage: trial [OPTIONS] FILE\n", "\n  FILE                    what to try\n",
        "\n  --count N               so many (default: 0)\n", "--share NUMBER", "-o,--out DIR",
        "--class-names NAMES", "--label LABEL...", "--perhaps SECONDS",
        "which (one of red, round) (required)"})
    EXPECT_THAT(help, HasSubstr(line));
  for (const char* type : {"TEXT", "INT", "FLOAT", "NONNEGATIVE", " in ["})
    EXPECT_THAT(help, Not(HasSubstr(type)));
  for (const Option& option : command_table(program.app()).options)
    EXPECT_THAT(names_and_value(option), Not(HasSubstr("TEXT")));
}

TEST(Help, ListsCommandsByGroupWithTheirExamplesAndNoOldNames) {
  cli::Program program("trial tries.", "trial", "trial 1");
  program.add_subcommand("one", "the first").group("Often").example("trial one FILE");
  cli::Command group = program.add_subcommand("two", "more").group("Seldom");
  group.add_subcommand("below", "further down").alias("under");
  program.add_subcommand("gone", "not any more").group("");
  EXPECT_THAT(help_of(program), HasSubstr("\nOften:\n  one                     the first\n"
                                          "                            trial one FILE\n"
                                          "\nSeldom:\n  two                     more\n"
                                          "\nOptions:\n"));
  EXPECT_THAT(help_of(program), Not(HasSubstr("gone")));
  const std::string below = group.app().help();
  EXPECT_THAT(below, HasSubstr("\nCommands:\n  below                   further down\n"));
  EXPECT_THAT(below, Not(HasSubstr("under")));
}

}  // namespace
}  // namespace moil::manual
