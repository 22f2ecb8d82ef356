// The program moilctl against a real server: what it prints, where, and with which status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysexits.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/files/file.h"
#include "tests/daemon/support/process.h"
#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Moilctl : public ServerTest {
 protected:
  Finished ctl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), MOILCTL);
    return run_program(std::move(arguments), {"MOILD_SOCKET=" + server_.socket().string()});
  }
  Json json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return parsed_json(ctl(std::move(arguments)).out);
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string description(const std::string& name) const {
    return file(name + ".json", job_named(name, server_.socket()).dump());
  }
  // At a terminal, with what a person types there; both outputs are one.
  Finished run_on_terminal(std::vector<std::string> arguments, const std::string& typed) const {
    arguments.insert(arguments.begin(), {MOILCTL, "--socket", server_.socket()});
    return run_at_terminal(std::move(arguments), typed);
  }
  std::vector<std::string> labels() const {
    std::vector<std::string> names;
    const Json list = json({"label", "list"});
    for (const Json& label : list["labels"]) names.push_back(label["name"]);
    return names;
  }
  Finished run_job(const std::string& name) const {
    return ctl({"job", "submit", description(name), "--now", "--watch"});
  }
  void import_digits() const {
    std::filesystem::create_directories(folder_ / "model");
    file("model/model.json", "{}");
    const Finished done = ctl({"model", "import", folder_ / "model", "--name", "digits"});
    EXPECT_EQ(done.status, EX_OK) << done.err;
    EXPECT_EQ(done.out, "model digits version 1 imported: 3 layers, 7 labels\n");
  }
  // A model, a job that has ended, a label with a sample, and a schedule.
  void have_something_of_each() const {
    import_digits();
    run_job("night");
    ctl({"label", "add", file("a.jpg", photo("one")), "--label", "cat"});
    ctl({"schedule", "add",
         file("s.json", Json{{"name", "weekly"},
                             {"enabled", false},
                             {"job", job_named("night", server_.socket())}}
                            .dump())});
  }
};

TEST_F(Moilctl, ALabelThatDiffersInCaseAloneIsAskedFor) {
  using ::testing::ElementsAre;
  ctl({"label", "add", file("a.jpg", photo("one")), "--label", "cat"});
  const std::string b = file("b.jpg", photo("two")), c = file("c.jpg", photo("three"));
  const Finished refused = ctl({"label", "add", b, "--label", "Cat"});
  EXPECT_EQ(refused.status, EX_CANTCREAT);
  EXPECT_THAT(refused.err, HasSubstr("\"Cat\" differs from the label \"cat\" in case alone"));
  EXPECT_THAT(refused.err, HasSubstr("--as-spelled"));
  EXPECT_THAT(labels(), ElementsAre("cat"));
  const Finished same = run_on_terminal({"label", "add", b, "--label", "Cat"}, "n\n");
  EXPECT_EQ(same.status, EX_OK) << same.out;
  EXPECT_THAT(same.out, HasSubstr("Is it another label? [y/N]"));
  EXPECT_THAT(labels(), ElementsAre("cat"));
  const Finished other = run_on_terminal({"label", "add", c, "--label", "Cat"}, "y\n");
  EXPECT_EQ(other.status, EX_OK) << other.out;
  EXPECT_THAT(labels(), ElementsAre("Cat", "cat"));
  EXPECT_EQ(ctl({"label", "assign", b, "--label", "CAT"}).status, EX_CANTCREAT);
  EXPECT_EQ(ctl({"label", "assign", b, "--label", "CAT", "--as-spelled"}).status, EX_OK);
  EXPECT_THAT(labels(), ElementsAre("CAT", "Cat", "cat"));
}

TEST_F(Moilctl, AnImportAsksForSpellingBeforeItAddsAnything) {
  using ::testing::ElementsAre;
  std::filesystem::create_directories(folder_ / "in/Cat/site1");
  std::filesystem::create_directories(folder_ / "in/dog");
  std::filesystem::create_directories(folder_ / "in/ant");
  ctl({"label", "add", file("a.jpg", photo("one")), "--label", "cat"});
  file("in/Cat/site1/b.jpg", photo("two"));
  file("in/dog/c.jpg", photo("three"));
  file("in/ant/d.jpg", photo("four"));
  EXPECT_EQ(ctl({"label", "import", folder_ / "in"}).status, EX_CANTCREAT);
  EXPECT_THAT(labels(), ElementsAre("cat"));
  EXPECT_EQ(run_on_terminal({"label", "import", folder_ / "in"}, "n\n").status, EX_OK);
  EXPECT_THAT(labels(), ElementsAre("ant", "cat", "dog"));
  EXPECT_EQ(json({"label", "list"})["labels"][1]["samples"], 2);
}

TEST_F(Moilctl, WhatCannotBeDecodedIsNotKept) {
  std::filesystem::create_directories(folder_ / "in/cat");
  file("in/cat/whole.jpg", photo("one"));
  file("in/cat/torn.jpg", photo("undecodable"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"label", "watch", folder_ / "in", "--once"},
        {"label", "import", folder_ / "in"},
        {"label", "add", folder_ / "in", "--label", "cat"},
        {"add", folder_ / "in"}}) {
    const Finished done = ctl(words);
    EXPECT_EQ(done.status, EX_DATAERR) << done.err;
    EXPECT_THAT(done.err, HasSubstr("in/cat/torn.jpg: it cannot be read: cut off\n"));
    EXPECT_EQ(json({"label", "list"})["samples"], 1);
  }
}

TEST_F(Moilctl, SubmitAndWatchToTheEnd) {
  import_digits();
  const Finished done = run_job("night");
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_THAT(done.out, HasSubstr("job 1 queued"));
  EXPECT_THAT(done.out, HasSubstr("10.0% -> 98.0%"));
  EXPECT_THAT(done.err, HasSubstr("job 1 succeeded"));
  EXPECT_THAT(done.err, HasSubstr("epoch 1  loss 0.5000  global 90.0%"));
  EXPECT_THAT(done.err, Not(HasSubstr("\r")));  // no bar without a terminal
  EXPECT_THAT(ctl({"model", "list"}).out, HasSubstr("96.0%"));
  EXPECT_EQ(ctl({"model", "rollback", "digits"}).out, "model digits version 1 is active again\n");
}

TEST_F(Moilctl, TheExitStatusTellsHowAJobEnded) {
  import_digits();
  EXPECT_EQ(run_job("reject").status, EX_DATAERR);
  EXPECT_EQ(run_job("bad-data").status, EX_SOFTWARE);
}

TEST_F(Moilctl, AListOfManyPagesIsShownToItsEnd) {
  {
    Database labels(folder_ / "state/labels/labels.db", Database::Access::kReadWrite);
    labels.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
        "INSERT INTO labels (name) SELECT 'label ' || i FROM n");
  }
  const std::string shown = ctl({"label", "list"}).out;
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 2501);
  const Json document = json({"label", "list"});
  EXPECT_EQ(document["labels"].size(), 2500U);
}

TEST_F(Moilctl, PredictPrintsATable) {
  const std::string seven = file("seven.png", "seven"), bad = file("bad.png", "bad");
  EXPECT_THAT(ctl({"predict", seven}).err, HasSubstr("there is no model"));
  import_digits();
  const Finished done = ctl({"predict", seven});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_THAT(done.out, HasSubstr(seven));
  EXPECT_THAT(done.out, ContainsRegex("seven +97.0%"));
  const Finished half = ctl({"predict", bad, seven});
  EXPECT_EQ(half.status, EX_DATAERR);
  EXPECT_THAT(half.err, HasSubstr("bad.png: not an image"));
  EXPECT_THAT(half.out, HasSubstr("97.0%"));
  EXPECT_EQ(ctl({"predict", "/nowhere.png"}).status, EX_NOINPUT);
  EXPECT_EQ(ctl({"predict", seven, "--model", "cats"}).status, EX_NOINPUT);
}

TEST_F(Moilctl, ListenPrintsWhatIsHeardALineEach) {
  const std::string sound = file("day.wav", "one\ntwo\n"), bad = file("notes.txt", "bad\n");
  EXPECT_THAT(ctl({"listen", sound}).err, HasSubstr("there is no model"));
  import_digits();
  const Finished done = ctl({"listen", sound, "--every", "0.5"});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_EQ(done.out, "0:00.5     seven  97.0%\n0:01.0     seven  97.0%\n");
  EXPECT_EQ(done.err, "2 events in 4 s, by model digits version 1\n");
  const std::string command = std::string(MOILCTL) + " listen - --json --threshold 0.5 < ";
  const std::string socket = "MOILD_SOCKET=" + server_.socket().string();
  const Finished piped = run_program({"/bin/sh", "-c", command + sound}, {socket});
  EXPECT_EQ(piped.out,
            "{\"label\":\"seven\",\"probability\":0.5,\"time\":0.08}\n"
            "{\"label\":\"seven\",\"probability\":0.5,\"time\":0.16}\n");
  EXPECT_THAT(piped.err, HasSubstr("-: its rate is 16000\n"));
  const Finished refused = ctl({"listen", bad});
  EXPECT_EQ(refused.status, EX_DATAERR);
  EXPECT_THAT(refused.err, HasSubstr("notes.txt: it is text, no sound"));
  EXPECT_THAT(run_program({"/bin/sh", "-c", command + bad}, {socket}).err,
              HasSubstr("standard input: it is text, no sound"));
  EXPECT_EQ(ctl({"listen", "/nowhere.wav"}).status, EX_NOINPUT);
  EXPECT_EQ(ctl({"listen", sound, "--threshold", "2"}).status, EX_USAGE);
  EXPECT_THAT(run_on_terminal({"listen", "-"}, "").out,
              HasSubstr("the standard input is a terminal; give it a sound: arecord"));
}

TEST_F(Moilctl, APlanTellsWhoWouldComputeWhat) {
  import_digits();
  const std::string picture = folder_ / "schedule.svg";
  const Finished done =
      ctl({"plan", "--processors", "path", description("night"), "--svg", picture});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_THAT(done.out, HasSubstr("predicted peak"));
  EXPECT_THAT(done.out, HasSubstr("the CPU (C) or a made-up GPU (G):"));
  EXPECT_THAT(done.out, ContainsRegex("classifier +CGG +1.000 \\| +2.000"));
  EXPECT_THAT(done.out, ContainsRegex("path +4.000 +2  <\n"));
  EXPECT_THAT(done.out, HasSubstr("drawn to " + picture));
  EXPECT_EQ(read_text(picture), "<svg>the schedule</svg>");
}

TEST_F(Moilctl, APlanNeedsNoMethodOfASelection) {
  import_digits();
  const Finished last = ctl({"--json", "plan", description("night"), "--processors"});
  EXPECT_EQ(last.status, EX_OK) << last.err;
  EXPECT_EQ(parsed_json(last.out)["processors"]["method"], "path");
  const Finished first = ctl({"--json", "plan", "--processors", description("night")});
  EXPECT_EQ(parsed_json(first.out)["processors"]["method"], "path");
  EXPECT_EQ(ctl({"plan", description("night"), "--processors", "gpu"}).status, EX_USAGE);
}

TEST_F(Moilctl, APlanWithoutASecondProcessorIsPrintedAllTheSame) {
  import_digits();
  const std::string picture = folder_ / "schedule.svg";
  const Finished done =
      ctl({"plan", description("no-device"), "--processors", "opencl", "--svg", picture});
  EXPECT_EQ(done.status, EX_UNAVAILABLE);
  EXPECT_THAT(done.out, HasSubstr("predicted peak"));
  EXPECT_THAT(done.out, Not(HasSubstr("drawn to")));
  EXPECT_EQ(done.err, "moilctl: no second processor: no driver is installed\n");
  EXPECT_FALSE(std::filesystem::exists(picture));
}

TEST_F(Moilctl, PredictTakesFoldersAndNamesTheVersion) {
  import_digits();
  std::filesystem::create_directories(folder_ / "in/below/.thumbs");
  for (const char* name : {"in/a.png", "in/below/b.png", "in/below/.thumbs/c.png"})
    file(name, "seven");
  const Finished done = ctl({"predict", folder_ / "in"});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  for (const char* shown : {"in/a.png", "in/below/b.png", "by model digits version 1\n"})
    EXPECT_THAT(done.out, HasSubstr(shown));
  EXPECT_THAT(done.out, Not(HasSubstr("c.png")));
  EXPECT_THAT(done.err, HasSubstr("1 hidden or service files passed over"));
  const Json reply = json({"predict", folder_ / "in"});
  EXPECT_EQ(reply["predictions"].size(), 2U);
  EXPECT_EQ(reply["version"], 1);
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(ctl({"predict", folder_ / "empty"}).status, EX_NOINPUT);
}

TEST_F(Moilctl, PredictTakesMoreFilesThanARequest) {
  import_digits();
  std::vector<std::string> words{"predict", "--json"};
  for (int i = 0; i < 101; ++i) words.push_back(file(std::to_string(i) + ".png", "seven"));
  const Json reply = parsed_json(ctl(words).out);
  ASSERT_EQ(reply["predictions"].size(), 101U);
  EXPECT_EQ(reply["predictions"][100]["file"], words.back());
}

TEST_F(Moilctl, WrongFieldsAreALineEachNamedAsInTheFile) {
  const Finished done =
      ctl({"job", "submit", file("bad.json", R"({"name": 7, "train": {"epocs": 1}})")});
  EXPECT_EQ(done.status, EX_USAGE);
  EXPECT_THAT(done.out, IsEmpty());
  EXPECT_THAT(done.err, HasSubstr("moilctl: /name: expected a string, found 7\n"));
  EXPECT_THAT(done.err, HasSubstr("moilctl: /train/epocs: unknown field \"epocs\"; did you mean"));
  EXPECT_THAT(done.err, HasSubstr("moilctl: /model: required field is missing\n"));
}

TEST_F(Moilctl, WhoReadsAFileThatIsNoJsonIsToldWhere) {
  EXPECT_THAT(ctl({"job", "submit", file("bad.json", "{")}).err,
              HasSubstr("bad.json: parse error at line 1"));
}

TEST_F(Moilctl, NobodyListens) {
  const Finished done = run_program({MOILCTL, "--socket", folder_ / "none.sock", "status"});
  EXPECT_EQ(done.status, EX_UNAVAILABLE);
  EXPECT_THAT(done.err, HasSubstr("is moild running?"));
  EXPECT_EQ(run_program({MOILCTL}).status, EX_USAGE);
}

TEST_F(Moilctl, LabelsFromAFolderOfHundreds) {
  std::filesystem::create_directories(folder_ / "sevens");
  for (int i = 0; i < 120; ++i)
    file("sevens/" + std::to_string(i), photo("seven " + std::to_string(i)));
  const Finished many = ctl({"label", "add", folder_ / "sevens", "--label", "7"});
  EXPECT_EQ(many.out, "120 added\n");
  EXPECT_THAT(many.err, HasSubstr("adding  50 of 120\n"));  // a bar if there is a terminal
  EXPECT_EQ(ctl({"label", "add", folder_ / "sevens/3", "--label", "7"}).out, "1 known already\n");
  const Json list = json({"label", "list"});
  EXPECT_EQ(list["labels"][0]["samples"], 120);
  const Finished other = ctl({"label", "add", folder_ / "sevens/3", "--label", "8"});
  EXPECT_EQ(other.status, EX_DATAERR);
  EXPECT_THAT(other.err, ContainsRegex("sevens/3: it is there already as '7' .sample .*"
                                       "moilctl label assign [0-9a-f]+ --label \"8\""));
  EXPECT_EQ(ctl({"label", "add", folder_ / "none", "--label", "8"}).status, EX_NOINPUT);
}

TEST_F(Moilctl, AFolderStandsForWhatIsInItAndBelow) {
  namespace fs = std::filesystem;
  for (const char* name :
       {"in/below/deeper", "in/.thumbs", "in/@eaDir", "in/empty", "elsewhere", "afar"})
    fs::create_directories(folder_ / name);
  file("in/a.jpg", photo("a"));
  file("in/below/deeper/b.jpg", photo("b"));
  file("in/below/notes.jpg", "milk, bread");
  file("in/.thumbs/c.jpg", photo("c"));
  file("in/@eaDir/d.jpg", photo("d"));
  file("in/.DS_Store", "x");
  fs::create_symlink(file("elsewhere/e.jpg", photo("e")), folder_ / "in/link.jpg");
  file("afar/f.jpg", photo("f"));
  fs::create_directory_symlink(folder_ / "afar", folder_ / "in/linked");
  fs::create_directory_symlink(folder_.path(), folder_ / "in/below/up");
  fs::create_symlink(folder_ / "nowhere.jpg", folder_ / "in/lost.jpg");
  const Finished done = ctl({"label", "add", folder_ / "in", "--label", "x"});
  EXPECT_EQ(done.status, EX_DATAERR) << "one is no photo";
  EXPECT_EQ(done.out, "4 added, 1 refused\n");
  EXPECT_THAT(done.err, HasSubstr("notes.jpg: it is text"));
  EXPECT_THAT(done.err, HasSubstr("up: passed over: it is a link to a folder that holds it"));
  EXPECT_THAT(done.err, HasSubstr("lost.jpg: passed over: it is no file, or a link"));
  EXPECT_THAT(done.err, HasSubstr("3 hidden or service files passed over"));
  const Finished named = ctl({"label", "add", folder_ / "in/link.jpg", "--label", "x"});
  EXPECT_EQ(named.out, "1 known already\n") << "a link that is named is followed, too";
  EXPECT_THAT(ctl({"label", "samples"}).out, HasSubstr("in/below/deeper/b.jpg"));
  const Finished nothing = ctl({"label", "add", folder_ / "in/empty", "--label", "x"});
  EXPECT_EQ(nothing.status, EX_NOINPUT);
  EXPECT_THAT(nothing.err, HasSubstr("there is no file to add"));
}

TEST_F(Moilctl, TextThatIsNotUtf8IsNamed) {
  const Finished done = ctl({"label", "rename", "caf\xe9", "cafe"});
  EXPECT_EQ(done.status, EX_USAGE);
  EXPECT_THAT(done.err, HasSubstr("'caf\xef\xbf\xbd' is not valid UTF-8"));
  const Finished fine =
      ctl({"label", "add", file("caf\xe9.jpg", photo("a")), "--label", "x", "--json"});
  EXPECT_EQ(fine.status, EX_OK) << "a file's name may be anything: " << fine.err;
  EXPECT_TRUE(Json::accept(fine.out));
}

TEST_F(Moilctl, LabelsGoOutAndComeBack) {
  ctl({"label", "add", file("a.jpg", photo("one")), "--label", "cat, \"big\"", "--label", "pet"});
  ctl({"label", "add", file("b.jpg", photo("two")), "--label", "pet", "--split", "val"});
  ctl({"label", "add", file("c.jpg", photo("three")), "--unlabelled"});
  const auto samples = [&] {
    std::map<std::string, Json> by_digest;
    const Json reply = json({"label", "samples"});
    for (const Json& s : reply["samples"]) by_digest[s["digest"]] = {s["labels"], s["split"]};
    return by_digest;
  };
  const auto before = samples();
  ASSERT_EQ(before.size(), 3U);
  for (const std::string format : {"jsonl", "csv"}) {
    const std::string out = folder_ / format;
    EXPECT_EQ(ctl({"label", "export", out, "--format", format}).status, EX_OK);
    EXPECT_EQ(ctl({"label", "export", out, "--format", format}).status, EX_CANTCREAT);
    const Finished known = ctl({"label", "import", out, "--dry-run", "--json"});
    EXPECT_EQ(parsed_json(known.out)["known"], 3) << known.err;
    for (const auto& [digest, what] : before) ctl({"label", "forget", digest, "--yes"});
    EXPECT_EQ(json({"label", "import", out, "--dry-run"})["new"], 3);
    EXPECT_TRUE(samples().empty()) << "nothing was done";
    const Finished done = ctl({"label", "import", out});
    EXPECT_EQ(done.out, "3 added\n") << done.err;
    EXPECT_EQ(samples(), before);
  }
  EXPECT_THAT(ctl({"label", "undo", "--yes"}).out, HasSubstr("Undone: 3 samples forgotten"));
  EXPECT_TRUE(samples().empty()) << "an import is one step";
}

TEST_F(Moilctl, FoldersAreLabels) {
  for (const char* name :
       {"in/cat/a.jpg", "in/pet/a.jpg", "in/dog/b.jpg", "in/c.jpg", "in/dog/text"}) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    file(name,
         std::string(name).ends_with("text") ? "text" : photo(name + std::string(name).size() - 5));
  }
  const Finished done = ctl({"label", "import", folder_ / "in"});
  EXPECT_EQ(done.status, EX_DATAERR) << "one is text";
  EXPECT_EQ(done.out, "3 added, 1 refused\n");
  const std::string out = folder_ / "out";
  EXPECT_EQ(ctl({"label", "export", out, "--format", "folder"}).status, EX_OK);
  EXPECT_EQ(json({"label", "import", out, "--dry-run"})["known"], 3);
  const Finished watched = ctl({"label", "watch", folder_ / "in", "--once"});
  EXPECT_THAT(watched.out, HasSubstr("c.jpg: known already, unlabelled"));
  EXPECT_THAT(ctl({"label", "list"}).out, HasSubstr("1 unlabelled"));
  const Json unlabelled = json({"label", "samples", "--unlabelled"})["samples"];
  EXPECT_THAT(ctl({"label", "assign", unlabelled[0]["digest"], "--label", "dog"}).out,
              HasSubstr("1 sample is now dog"));
  EXPECT_THAT(ctl({"label", "merge", "dog", "cat"}).out, HasSubstr("with 2 samples"));
}

TEST_F(Moilctl, WordsForAShellsCompletion) {
  import_digits();
  ctl({"label", "add", file("a", photo("one")), "--label", "two words"});
  run_job("night");
  EXPECT_EQ(ctl({"words", "models"}).out, "digits\n") << "once, however many versions there are";
  EXPECT_EQ(ctl({"words", "labels"}).out, "two words\n");
  EXPECT_EQ(ctl({"words", "jobs"}).out, "1\n");
  EXPECT_EQ(ctl({"words", "schedules"}).out, "");
  const Finished nobody =
      run_program({MOILCTL, "--socket", folder_ / "none.sock", "words", "models"});
  EXPECT_EQ(nobody.status, EX_OK);
  EXPECT_EQ(nobody.out + nobody.err, "") << "a shell wants no complaints";
}

TEST_F(Moilctl, UndoForgetsNoSampleUnasked) {
  for (const char* name : {"one.jpg", "two.jpg"}) file(name, photo(name));
  EXPECT_EQ(
      ctl({"label", "add", folder_ / "one.jpg", folder_ / "two.jpg", "--label", "cat"}).status,
      EX_OK);
  EXPECT_EQ(ctl({"label", "map", "cat", "tabby"}).status, EX_OK);
  EXPECT_THAT(ctl({"label", "undo"}).out, HasSubstr("Undone: map of cat"));
  const Finished refused = ctl({"label", "undo"});  // there is nobody to ask
  EXPECT_EQ(refused.status, EX_UNAVAILABLE);
  EXPECT_THAT(refused.err, HasSubstr("this would forget 2 samples, which it added, for good"));
  EXPECT_THAT(refused.err, HasSubstr("--yes"));
  EXPECT_THAT(ctl({"label", "list"}).out, HasSubstr("cat    2"));
  EXPECT_THAT(ctl({"label", "undo", "--with-samples"}).out,
              HasSubstr("Undone: 2 samples forgotten"));
  EXPECT_EQ(ctl({"label", "undo"}).status, EX_UNAVAILABLE);
}

TEST_F(Moilctl, TimesAreTakenAsTimelinesWriteThem) {
  const std::string walk = file("walk.ogg", "a walk");
  for (const auto& [from, to, name] :
       {std::tuple{"1:00", "1:01.5", "60-61.5 s"}, {"61:05.5", "1:01:06", "3665.5-3666 s"}}) {
    const Finished done =
        ctl({"label", "cut", walk, "--from", from, "--to", to, "--label", "knock", "--json"});
    EXPECT_EQ(done.status, EX_OK) << done.err;
    EXPECT_THAT(done.out, HasSubstr(name));
  }
  const Finished wrong = ctl({"label", "cut", walk, "--from", "1:75", "--to", "2", "--label", "x"});
  EXPECT_EQ(wrong.status, EX_USAGE);
  EXPECT_THAT(wrong.err, HasSubstr("--from: \"1:75\" is no time"));
}

// Whatever is lost for good by a command, with one of these to lose.
TEST_F(Moilctl, NothingIsLostForGoodUnasked) {
  have_something_of_each();
  const auto state = [&] {
    Json all;
    for (const char* what : {"job", "label", "model", "schedule"}) all[what] = json({what, "list"});
    all["samples"] = json({"label", "samples"});
    all["cache"] = json({"cache", "stats"})["entries"];
    return all;
  };
  const Json before = state();
  ASSERT_EQ(before["schedule"]["schedules"].size(), 1U);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"label", "forget", "a.jpg"},
                                             {"label", "rm", "cat", "--with-samples"},
                                             {"label", "undo"},
                                             {"model", "rm", "digits", "1"},
                                             {"model", "rm", "digits"},
                                             {"job", "rm", "1"},
                                             {"schedule", "rm", "weekly"},
                                             {"cache", "clean", "--all"}}) {
    const Finished refused = ctl(command);
    EXPECT_EQ(refused.status, EX_UNAVAILABLE) << command[0] << " " << command[1];
    EXPECT_THAT(refused.err, ContainsRegex("nothing was done: this would .*nobody to ask; --yes"));
    auto as_json = command;
    as_json.emplace_back("--json");
    EXPECT_EQ(ctl(as_json).status, EX_UNAVAILABLE) << "a program is not asked";
    EXPECT_EQ(run_on_terminal(command, "n\n").status, EX_TEMPFAIL) << command[1];
    EXPECT_EQ(state(), before) << command[0] << " " << command[1];
  }
  const Finished asked = run_on_terminal({"label", "forget", "a.jpg"}, "y\n");
  EXPECT_EQ(asked.status, EX_OK) << asked.out;
  EXPECT_THAT(asked.out, HasSubstr("This would forget "));
  EXPECT_THAT(asked.out, HasSubstr("a.jpg (cat) for good. Go on? [y/N]"));
  EXPECT_TRUE(json({"label", "samples"})["samples"].empty());
  EXPECT_EQ(ctl({"schedule", "rm", "weekly", "-y"}).status, EX_OK);
  EXPECT_EQ(ctl({"job", "rm", "1", "--yes"}).status, EX_OK);
  EXPECT_EQ(ctl({"cache", "clean", "--all", "--yes"}).status, EX_OK);
}

TEST_F(Moilctl, AWholeModelGoesWithItsLastVersionAndItsSchedules) {
  import_digits();
  run_job("night");
  ctl({"schedule", "add",
       file("s.json", Json{{"name", "weekly"},
                           {"enabled", false},
                           {"job", job_named("night", server_.socket())}}
                          .dump())});
  EXPECT_THAT(
      ctl({"model", "rm", "digits"}).err,
      HasSubstr("remove model digits with its 2 versions and the schedule weekly for good"));
  const Finished done = ctl({"model", "rm", "digits", "--yes"});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_EQ(done.out, "model digits removed: 2 versions, the schedule weekly\n");
  EXPECT_TRUE(json({"model", "list"})["models"].empty());
  EXPECT_TRUE(json({"schedule", "list"})["schedules"].empty());
  EXPECT_EQ(json({"job", "list"})["jobs"].size(), 1U) << "jobs stay";
  EXPECT_EQ(ctl({"model", "rm", "digits", "--yes"}).status, EX_NOINPUT);
  EXPECT_THAT(ctl({"status"}).out, HasSubstr("no model yet: moilctl setup FOLDER\n"));
}

TEST_F(Moilctl, ASampleIsCalledByItsFileItsNameOrADigestsBeginning) {
  std::filesystem::create_directories(folder_ / "x");
  std::filesystem::create_directories(folder_ / "y");
  for (const char* name : {"x/a.jpg", "y/a.jpg", "x/b.jpg"}) file(name, photo(name));
  ctl({"label", "add", folder_ / "x", folder_ / "y", "--label", "cat"});
  const Json all = json({"label", "samples"})["samples"];
  ASSERT_EQ(all.size(), 3U);
  const auto labels_of = [&](const std::string& name) {
    const Json found = json({"label", "samples", name})["samples"];
    return found.size() == 1 ? found[0]["labels"].dump() : std::to_string(found.size());
  };
  const std::string copy = file("copy of b.jpg", photo("x/b.jpg"));
  EXPECT_EQ(ctl({"label", "assign", copy, "--label", "content"}).status, EX_OK);
  EXPECT_EQ(labels_of("b.jpg"), R"(["content"])");
  EXPECT_EQ(ctl({"label", "assign", "y/a.jpg", "b.jpg", "--label", "name"}).out,
            "2 samples are now name\n");
  EXPECT_EQ(labels_of("y/a.jpg"), R"(["name"])");
  const std::string digest = all[0]["digest"];
  EXPECT_EQ(ctl({"label", "assign", digest.substr(0, 8), "--label", "two", "--label", "one"}).out,
            "1 sample is now one, two\n");
  EXPECT_EQ(labels_of(digest.substr(0, 8)), R"(["one","two"])");
  for (const char* command : {"assign", "relabel"}) {
    const Finished several = ctl({"label", command, "a.jpg", "--label", "z"});
    EXPECT_EQ(several.status, EX_USAGE);
    EXPECT_THAT(several.err, HasSubstr("\"a.jpg\" may be any of 2 samples: "));
    EXPECT_THAT(several.err, HasSubstr("y/a.jpg (name)"));
  }
  EXPECT_THAT(ctl({"label", "forget", "a.jpg", "--yes"}).err, HasSubstr("may be any of 2 samples"));
  EXPECT_EQ(ctl({"label", "forget", "none.jpg", "--yes"}).status, EX_NOINPUT);
  // A file at hand that was never added is not taken for one of the same name.
  const std::string other = file("b.jpg", photo("another"));
  EXPECT_EQ(ctl({"label", "forget", other, "--yes"}).status, EX_NOINPUT);
  EXPECT_EQ(ctl({"label", "forget", "x/b.jpg", "--yes"}).status, EX_OK);
  EXPECT_EQ(labels_of("b.jpg"), "0");
}

TEST_F(Moilctl, OldSpellingsWorkUnlisted) {
  have_something_of_each();
  for (const auto& [old, now] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"job", "get", "1"}, {"job", "show", "1"}},
           {{"model", "get", "digits"}, {"model", "show", "digits"}},
           {{"schedule", "get", "weekly"}, {"schedule", "show", "weekly"}},
           {{"cache", "gc"}, {"cache", "clean"}},
           {{"label", "relabel", "a.jpg", "--label", "x"},
            {"label", "assign", "a.jpg", "--label", "x"}},
           {{"label", "review", "--terminal"}, {"review", "--terminal"}}}) {
    EXPECT_EQ(ctl(old).status, EX_OK) << old[0] << " " << old[1];
    EXPECT_EQ(ctl(now).status, EX_OK) << now[0] << " " << now[1];
    std::vector<std::string> above = {old[0], "--help"};
    EXPECT_THAT(ctl(above).out, Not(ContainsRegex("\n  " + old[1] + " "))) << old[0];
  }
}

TEST_F(Moilctl, TheHelpBeginsWithWhatEveryoneNeeds) {
  const std::string help = run_program({MOILCTL, "--help"}).out;
  std::size_t last = help.find("What everyone needs:");
  ASSERT_NE(last, std::string::npos);
  for (const char* command : {"\n  status ", "moilctl status", "\n  review ", "\n  predict ",
                              "moilctl predict ~/Photos/new", "\n  listen ", "\n  report ",
                              "\n  doctor ", "Labels, nights and models:", "\n  label ",
                              "The device and moild itself:", "\n  cache ", "--socket FILE"}) {
    const auto found = help.find(command, last);
    EXPECT_NE(found, std::string::npos) << command;
    last = std::min(found, help.size());
  }
}

TEST_F(Moilctl, DryRunsAndUndosSayOnlyWhatThereIs) {
  std::filesystem::create_directories(folder_ / "in/cat");
  file("in/cat/a.jpg", photo("one"));
  EXPECT_EQ(ctl({"label", "import", folder_ / "in", "--dry-run"}).out, "1 would be added\n");
  ctl({"label", "import", folder_ / "in"});
  EXPECT_EQ(ctl({"label", "import", folder_ / "in", "--dry-run"}).out, "1 known already\n");
  file("in/cat/b.jpg", photo("undecodable"));
  file("in/cat/c.jpg", photo("three"));
  const Finished told = ctl({"label", "import", folder_ / "in", "--dry-run"});
  EXPECT_EQ(told.out, "1 would be added, 1 known already, 1 cannot be taken\n");
  EXPECT_EQ(json({"label", "samples"})["samples"].size(), 1U);
  EXPECT_EQ(ctl({"label", "import", folder_ / "in"}).err, told.err) << "in the same words";
  EXPECT_THAT(told.err, HasSubstr("b.jpg: it cannot be read: cut off"));
  ctl({"label", "forget", "c.jpg", "--yes"});
  ctl({"label", "assign", "a.jpg", "--label", "dog"});
  EXPECT_THAT(ctl({"label", "undo"}).out, ::testing::StartsWith("Undone: 1 sample relabelled ("));
}

TEST_F(Moilctl, LabelUpkeep) {
  ctl({"label", "add", file("a", photo("one")), "--label", "cat"});
  EXPECT_EQ(ctl({"label", "rename", "cat", "tom"}).status, EX_OK);
  EXPECT_THAT(ctl({"label", "map", "tom", "cat"}).out, HasSubstr("tom"));
  const Json samples = json({"label", "samples"})["samples"];
  const std::string digest = samples[0]["digest"];
  EXPECT_THAT(ctl({"label", "samples"}).out, HasSubstr(digest));
  EXPECT_EQ(ctl({"label", "relabel", digest, "--label", "felix"}).status, EX_OK);
  EXPECT_EQ(ctl({"label", "forget", digest, "--yes"}).out, "sample forgotten\n");
  EXPECT_EQ(ctl({"label", "forget", digest, "--yes"}).status, EX_NOINPUT);
  EXPECT_EQ(ctl({"label", "rm", "felix"}).status, EX_OK);
}

TEST_F(Moilctl, EveryReadingCommandPrintsATableAndJson) {
  import_digits();
  ctl({"job", "submit", description("night")});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"job", "list"},
                                             {"job", "get", "1"},
                                             {"label", "list"},
                                             {"label", "samples"},
                                             {"label", "map"},
                                             {"model", "list"},
                                             {"model", "get", "digits"},
                                             {"cache", "stats"},
                                             {"cache", "verify"},
                                             {"status"},
                                             {"metrics"},
                                             {"logs", "1"},
                                             {"methods"}}) {
    const Finished table = ctl(command);
    EXPECT_EQ(table.status, EX_OK) << command[0] << ": " << table.err;
    EXPECT_FALSE(table.out.empty());
    auto as_json = command;
    as_json.emplace_back("--json");
    const Finished json = ctl(as_json);
    EXPECT_EQ(json.status, EX_OK) << json.err;
    EXPECT_TRUE(Json::accept(json.out)) << json.out;
  }
}

TEST_F(Moilctl, StatusFitsAScreen) {
  import_digits();
  run_job("night");
  const Finished done = ctl({"status"});
  EXPECT_THAT(done.out, HasSubstr("job 1 personalized digits: local 10.0% -> 98.0%, global 97.0% "
                                  "-> 96.0%, 2 s; in service as version 2"));
  EXPECT_LE(std::count(done.out.begin(), done.out.end(), '\n'), 20);
  EXPECT_EQ(json({"status"})["overview"]["last_night"]["job"], 1);
}

TEST_F(Moilctl, LogsShowsAJobsEventsByTime) {
  import_digits();
  run_job("night");
  const Finished all = ctl({"logs", "1"});
  EXPECT_EQ(all.status, EX_OK) << all.err;
  for (const char* line : {"  queued\n", "  stage mix\n", "  epoch 1  loss 0.5000  global 90.0%\n"})
    EXPECT_THAT(all.out, HasSubstr(line));
  const Finished last = ctl({"logs", "1", "-n", "1"});
  EXPECT_EQ(std::count(last.out.begin(), last.out.end(), '\n'), 1);
  EXPECT_THAT(last.out, HasSubstr("succeeded"));
  const Finished followed = ctl({"logs", "1", "--follow"});
  EXPECT_EQ(followed.status, EX_OK) << followed.err;
  EXPECT_EQ(followed.out, all.out) << "it has ended";
  EXPECT_EQ(ctl({"logs", "9"}).status, EX_NOINPUT);
}

TEST_F(Moilctl, DoctorsExitStatusTellsOfProblems) {
  const Finished fine = ctl({"doctor"});
  const bool any = fine.out.find("PROBLEM") != std::string::npos;  // a disk that is busy, say
  EXPECT_EQ(fine.status, any ? 1 : EX_OK) << fine.out;
  EXPECT_THAT(fine.out, ContainsRegex("ok +state-folder"));
  std::filesystem::permissions(folder_ / "state", std::filesystem::perms(0755));
  const Finished open = ctl({"doctor", "--quiet"});
  std::filesystem::permissions(folder_ / "state", std::filesystem::perms(0700));
  EXPECT_EQ(open.status, 1);
  EXPECT_THAT(open.out, ContainsRegex("PROBLEM +state-folder"));
  EXPECT_THAT(open.out, HasSubstr("-> chmod 0700"));
  EXPECT_THAT(open.out, Not(ContainsRegex("ok +")));
  const Finished nobody =
      run_program({MOILCTL, "--json", "--socket", folder_ / "none.sock", "doctor"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_EQ(parsed_json(nobody.out)["findings"][0]["what"], "moild");
}

TEST_F(Moilctl, WhoWaitsWithoutAnEndIsNamed) {
  const TempFolder device;
  for (const auto& [pid, state] : {std::pair{"812", 'D'}, {"813", 'S'}}) {
    const auto process = device.path() / "proc" / pid;
    std::filesystem::create_directories(process / "task" / pid);
    std::ofstream(process / "comm") << "rsync\n";
    std::ofstream(process / "task" / pid / "stat") << pid << " (a) b) " << state << " 1 2 3\n";
  }
  const std::string made_up = "MOIL_DEVICE_ROOT=" + device.path().string();
  const auto run = [&](const char* command) {
    return run_program({MOILCTL, "--socket", server_.socket().string(), command}, {made_up}).out;
  };
  EXPECT_THAT(run("doctor"), HasSubstr("these processes wait all the time: rsync (812)\n"));
  EXPECT_THAT(run("status"), Not(HasSubstr("rsync"))) << "nothing is held back";
  server_.world.io_pressure = 0.95;
  import_digits();
  ctl({"job", "submit", description("night")});
  EXPECT_TRUE(eventually([&] { return run("status").find("rsync (812)") != std::string::npos; }));
}

TEST_F(Moilctl, ReportTellsWhatAJobDid) {
  import_digits();
  run_job("elastic");
  const Finished done = ctl({"report", "1"});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_THAT(done.out, HasSubstr("10.0% -> 98.0%"));
  for (const char* line : {"layers +the last 2 of 9", "train +3.00 s +75.0%",
                           "measured peak +2.0 MiB", "feature maps reused +5"})
    EXPECT_THAT(done.out, ContainsRegex(line));
  EXPECT_THAT(done.out, Not(HasSubstr("energy"))) << "it is not known";
  EXPECT_EQ(json({"report", "1"})["local_after"], 0.98);
}

TEST_F(Moilctl, ReportDrawsElasticTraining) {
  import_digits();
  run_job("elastic");
  const std::string svg = folder_ / "elastic.svg";
  const Finished done = ctl({"report", "1", "--elastic", "--svg", svg});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_THAT(done.out, ContainsRegex("1-2 +1 of 2 +100 ms"));
  EXPECT_THAT(done.out, HasSubstr("classifier.kernel  #######      100.0%"));
  EXPECT_THAT(done.out, HasSubstr("little < much"));
  EXPECT_THAT(read_text(svg), HasSubstr("classifier.kernel, epochs 1-2: trained"));
  EXPECT_EQ(json({"report", "1", "--elastic"})["rho"], 0.5);
  EXPECT_EQ(ctl({"report", "1", "--elastic", "--svg", "/no/such/folder/a.svg"}).status, EX_NOINPUT);
}

// Its intervals come in parts.
TEST_F(Moilctl, ReportFetchesALongResult) {
  import_digits();
  run_job("long");
  const Json job = json({"job", "get", "1"})["job"];
  EXPECT_EQ(job["result"]["details"]["elastic"]["intervals"].size(), 400U);
  EXPECT_FALSE(job["result"].contains("lists"));
  const Json elastic = json({"report", "1", "--elastic"});
  EXPECT_EQ(elastic["intervals"][399]["epoch"], 399);
  EXPECT_THAT(ctl({"report", "1", "--elastic"}).out, HasSubstr("400"));
}

TEST_F(Moilctl, ReportSaysWhatIsMissing) {
  import_digits();
  run_job("night");
  const Finished other = ctl({"report", "1", "--elastic"});
  EXPECT_EQ(other.status, EX_NOINPUT);
  EXPECT_THAT(other.err, HasSubstr("job 1 was not trained elastically"));
  EXPECT_EQ(ctl({"report", "1", "--svg", "a.svg"}).status, EX_USAGE);
  EXPECT_EQ(ctl({"report", "9"}).status, EX_NOINPUT);

  run_job("bad-data");
  const Finished failed = ctl({"report", "2"});
  EXPECT_EQ(failed.status, EX_NOINPUT);
  EXPECT_THAT(failed.err, HasSubstr("job 2 ended as failed and has no report"));

  ctl({"job", "submit", description("slow"), "--now"});
  const Finished early = ctl({"report", "3"});
  EXPECT_EQ(early.status, EX_UNAVAILABLE);
  EXPECT_THAT(early.err, HasSubstr("moilctl job watch 3"));
}

// Whoever finds the fault: the command line, a file, the connection.
TEST_F(Moilctl, ErrorsOfItsOwnAreJsonToo) {
  const std::string none = folder_ / "none";
  for (const auto& [arguments, status, code] :
       std::vector<std::tuple<std::vector<std::string>, int, std::string>>{
           {{"--json", "jbo"}, EX_USAGE, "invalid_argument"},
           {{"job", "--json"}, EX_USAGE, "invalid_argument"},
           {{"--json", "job", "get", "one"}, EX_USAGE, "invalid_argument"},
           {{"--json", "job", "get", "99"}, EX_NOINPUT, "not_found"},
           {{"--json", "job", "submit", none}, EX_NOINPUT, "not_found"},
           {{"--json", "job", "submit", file("bad.json", "{")}, EX_DATAERR, "bad_data"},
           {{"--json", "--socket", none, "status"}, EX_UNAVAILABLE, "failed_precondition"}}) {
    const Finished done = ctl(arguments);
    EXPECT_EQ(done.status, status) << done.err;
    EXPECT_THAT(done.out, IsEmpty());
    ASSERT_TRUE(Json::accept(done.err)) << done.err;
    EXPECT_EQ(parsed_json(done.err)["data"]["code"], code);
    EXPECT_TRUE(parsed_json(done.err)["message"].is_string());
  }
}

TEST_F(Moilctl, AnUnknownCommandIsNamedWithTheNearest) {
  for (const auto& [arguments, complaint] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"jbo", "list"},
            "moilctl: \"moilctl\" has no command \"jbo\"; did you mean \"job\"?\n"},
           {{"job", "lst"},
            "moilctl: \"moilctl job\" has no command \"lst\"; did you mean \"list\"?\n"},
           {{"cache", "frobnicate"},
            "moilctl: \"moilctl cache\" has no command \"frobnicate\"; it has stats, clean, "
            "verify\n"},
           {{"cache"},
            "moilctl: \"moilctl cache\" needs one of its commands: stats, clean, verify; see "
            "moilctl "
            "cache --help\n"}}) {
    const Finished done = ctl(arguments);
    EXPECT_EQ(done.status, EX_USAGE);
    EXPECT_EQ(done.err, complaint);
  }
  EXPECT_THAT(ctl({"job", "show"}).err, HasSubstr("ID is required; see moilctl job show --help"));
}

TEST_F(Moilctl, FollowedJobsAreJsonLines) {
  import_digits();
  const Finished done = ctl({"--json", "job", "submit", description("night"), "--now", "--watch"});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  std::vector<Json> lines;
  std::istringstream text(done.out);
  for (std::string line; std::getline(text, line);) {
    ASSERT_TRUE(Json::accept(line)) << line;
    lines.push_back(parsed_json(line));
  }
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines.front()["id"], 1);
  EXPECT_EQ(lines.back()["job"]["state"], "succeeded");
}

TEST_F(Moilctl, TheReportOfTheLastNightAsAPage) {
  EXPECT_EQ(ctl({"report", "--last"}).status, EX_NOINPUT);
  EXPECT_EQ(ctl({"report"}).status, EX_USAGE);
  EXPECT_EQ(ctl({"report", "1", "--last"}).status, EX_USAGE);
  import_digits();
  for (const char* name : {"bad-data", "night", "elastic", "bad-data"}) run_job(name);
  const Finished printed = ctl({"report", "--last"});
  EXPECT_EQ(printed.status, EX_OK) << printed.err;
  EXPECT_EQ(printed.out, ctl({"report", "3"}).out);
  const std::string page = folder_ / "night.html";
  const Finished done = ctl({"report", "--last", "--html", page});
  EXPECT_EQ(done.status, EX_OK) << done.err;
  EXPECT_EQ(done.out, "the report of job 3 is in " + page + "\n");
  const std::string html = read_text(page);
  EXPECT_THAT(html, HasSubstr("learned <bdi>seven</bdi>"));
  EXPECT_THAT(html, HasSubstr("What elastic training chose"));
  EXPECT_EQ(ctl({"report", "3", "--html", "-"}).out, html + "\n");
  // It holds photos.
  const auto mode = std::filesystem::status(page).permissions();
  EXPECT_EQ(mode & std::filesystem::perms(0077), std::filesystem::perms::none);
}

}  // namespace
}  // namespace moil::daemon::test
