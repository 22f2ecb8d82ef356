#include "datasets/labels/label_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/files/file.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using test::photo;
using ::testing::ElementsAre;

using Access = LabelStore::Access;

class LabelStoreTest : public ::testing::Test {
 protected:
  AddedSample add(std::string_view content, std::vector<std::string> labels,
                  std::optional<Split> split = {}) {
    return store().add_sample(bytes_of(photo(content)), labels, split);
  }
  LabelStore& store() {
    if (!store_) store_.emplace(root(), Access::kReadWrite);
    return *store_;
  }
  void reopen() {
    store_.reset();
    store();
  }
  void close() { store_.reset(); }
  std::filesystem::path root() const { return folder_ / "labels"; }
  std::string summary() {  // "cat 3/1, dog 1/0": samples / held out
    std::string text;
    for (const auto& label : store().labels()) {
      if (!text.empty()) text += ", ";
      text +=
          label.name + " " + std::to_string(label.samples) + "/" + std::to_string(label.validation);
    }
    return text;
  }
  std::size_t files() const {
    std::size_t count = 0;
    if (!std::filesystem::exists(root() / "files")) return 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root() / "files")) {
      count += entry.is_regular_file();
    }
    return count;
  }
  bool is_on_disk(const std::string& text) const {
    return std::ranges::any_of(std::array{"labels.db", "labels.db-wal"}, [&](const char* name) {
      return std::filesystem::exists(root() / name) &&
             read_text(root() / name).find(text) != std::string::npos;
    });
  }
  static std::string large(char fill) { return std::string(kInlineBytes + 1, fill); }
  static Digest digest_of(std::string_view content) { return data::digest_of(photo(content)); }

  test::TempFolder folder_;
  std::optional<LabelStore> store_;
};

TEST_F(LabelStoreTest, ASampleComesBackAsItWasAdded) {
  const std::vector<std::string> cat = {"cat"};
  const auto added = store().add_sample(bytes_of("\x89PNG\r\n\x1a\nsmall"), cat, Split::kValidation,
                                        "pets/cat.png");
  EXPECT_TRUE(added.is_new);
  reopen();
  EXPECT_EQ(store().content(added.digest), bytes_of("\x89PNG\r\n\x1a\nsmall"));
  const auto sample = store().find(added.digest);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->media_type, "image/png");
  EXPECT_EQ(sample->name, "pets/cat.png");
  EXPECT_EQ(sample->size, 13u);
  EXPECT_EQ(sample->split, Split::kValidation);
  EXPECT_THAT(sample->labels, ElementsAre("cat"));
  EXPECT_GT(sample->added_at, 1'700'000'000);
}

TEST_F(LabelStoreTest, LargeSamplesLiveInPrivateFiles) {
  const auto added = add(large('x'), {"cat"});
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(store().content(added.digest), bytes_of(photo(large('x'))));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root())) {
    struct stat info {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077, 0u) << entry.path();
  }
}

TEST_F(LabelStoreTest, AddingIsIdempotentByContent) {
  const auto first = add("a", {"cat", "pet"});
  const auto again = add("a", {"cat"});
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.digest, first.digest);
  EXPECT_EQ(store().samples().size(), 1u);
  expect_error(ErrorCode::kAlreadyExists, {"'cat'", "relabel"}, [&] { add("a", {"dog"}); });
  EXPECT_EQ(summary().find("dog"), std::string::npos) << "nothing half-done stays";
}

TEST_F(LabelStoreTest, FilesAreCopied) {
  test::write_text(folder_ / "photo.jpg", "\xff\xd8\xff photo");
  const std::vector<std::string> labels = {"cat"};
  const auto added = store().add_file(folder_ / "photo.jpg", labels);
  std::filesystem::remove(folder_ / "photo.jpg");
  EXPECT_EQ(store().find(added.digest)->media_type, "image/jpeg");
  EXPECT_EQ(store().find(added.digest)->name, (folder_ / "photo.jpg").string());
  EXPECT_EQ(store().content(added.digest), bytes_of("\xff\xd8\xff photo"));
  expect_error(ErrorCode::kNotFound, {"photo.jpg"},
               [&] { store().add_file(folder_ / "photo.jpg", labels); });
}

TEST_F(LabelStoreTest, LabelsAreRenamedAndRemoved) {
  add("a", {"cat"});
  add("b", {"dog"});
  add("c", {"dog", "pet"});
  store().rename_label("cat", "tiger");
  expect_error(ErrorCode::kAlreadyExists, {"'dog'"}, [&] { store().rename_label("tiger", "dog"); });
  expect_error(ErrorCode::kNotFound, {"'cat'"}, [&] { store().rename_label("cat", "lion"); });
  expect_error(ErrorCode::kFailedPrecondition, {"2 samples"}, [&] { store().remove_label("dog"); });
  EXPECT_THAT(store().remove_label("dog", true), ElementsAre(digest_of("b")));
  EXPECT_THAT(store().find(digest_of("c"))->labels, ElementsAre("pet"));
  EXPECT_EQ(store().samples().size(), 2u);
  reopen();
  ASSERT_EQ(store().labels().size(), 2u);
  EXPECT_EQ(store().labels()[1].name, "tiger");
}

TEST_F(LabelStoreTest, RelabelReplaces) {
  add("a", {"cat"});
  const std::vector<std::string> labels = {"dog", "animal", "dog"};
  store().relabel(digest_of("a"), labels);
  EXPECT_THAT(store().find(digest_of("a"))->labels, ElementsAre("animal", "dog"));
  expect_error(ErrorCode::kNotFound, {digest_of("b").hex()},
               [&] { store().relabel(digest_of("b"), labels); });
}

TEST_F(LabelStoreTest, ForgettingLeavesNoTrace) {
  const std::string secret = "a very private photograph " + std::string(200, '#');
  const std::vector<std::string> cat = {"cat"};
  store().add_sample(bytes_of(photo(secret)), cat, {}, "a/very/private/photograph.jpg");
  add(large('y'), {"cat"});
  store().forget(digest_of(secret));
  store().forget(digest_of(large('y')));
  EXPECT_EQ(store().forgetting().size(), 2u) << "until their feature maps are gone";
  store().forget(digest_of(secret));  // an attempt that failed may be repeated
  store().forgotten(store().forgetting());
  EXPECT_EQ(files(), 0u);
  EXPECT_FALSE(store().find(digest_of(secret)));
  expect_error(ErrorCode::kNotFound, {"no sample"}, [&] { store().forget(digest_of(secret)); });
  expect_error(ErrorCode::kNotFound, {"no sample"},
               [&] { (void)store().content(digest_of(secret)); });
  const auto digest = digest_of(secret).bytes;
  for (const std::string& trace :
       {std::string("private photograph"), std::string("private/photograph"),
        std::string(digest.begin(), digest.end())}) {
    EXPECT_FALSE(is_on_disk(trace)) << trace;
  }
  add("another secret", {"private"});
  EXPECT_TRUE(is_on_disk("another secret"));
  store().remove_label("private", true);
  EXPECT_FALSE(is_on_disk("another secret"));
}

TEST_F(LabelStoreTest, ForgettingLeavesNoTraceWhereACrashCameBeforeTheLogWasCopied) {
  add("b", {"cat"});
  store().forget(digest_of("b"));
  close();
  // As forgotten() does it, up to the crash: a copy of what is there meanwhile.
  Database writer(root() / "labels.db", Access::kReadWrite);
  writer.run("PRAGMA secure_delete = ON; DELETE FROM forgetting");
  const auto left = folder_ / "left";
  std::filesystem::create_directory(left);
  for (const char* name : {"labels.db", "labels.db-wal"})
    std::filesystem::copy_file(root() / name, left / name);
  const auto digest = digest_of("b").bytes;
  const std::string bytes(digest.begin(), digest.end());
  ASSERT_NE(read_text(left / "labels.db").find(bytes), std::string::npos);
  const LabelStore again(left, Access::kReadWrite);
  EXPECT_TRUE(again.forgetting().empty());
  for (const char* name : {"labels.db", "labels.db-wal"})
    EXPECT_EQ(read_text(left / name).find(bytes), std::string::npos) << name;
}

TEST_F(LabelStoreTest, WhatIsBeingForgottenIsRememberedUntilNothingIsLeft) {
  add(large('y'), {"cat"});
  add("b", {"cat", "pet"});
  store().remove_label("cat", true);
  reopen();
  const auto left = store().forgetting();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].digest, digest_of(large('y')));
  add(large('y'), {"dog"});  // again, on purpose
  store().forgotten(left);
  EXPECT_TRUE(store().forgetting().empty());
  EXPECT_EQ(store().content(digest_of(large('y'))), bytes_of(photo(large('y'))));
}

TEST_F(LabelStoreTest, NamesOfFilesAreSafeToShowAndKeepTheirEnd) {
  const std::vector<std::string> cat = {"cat"};
  const auto name_of = [&](const std::string& content, const std::string& name) {
    return store().find(store().add_sample(bytes_of(photo(content)), cat, {}, name).digest)->name;
  };
  EXPECT_EQ(name_of("1", "a\xff\x1b[2J.jpg"), "a\xef\xbf\xbd\xef\xbf\xbd[2J.jpg");
  EXPECT_TRUE(name_of("2", std::string(4000, '/') + "cat.jpg").ends_with("/cat.jpg"));
  EXPECT_LE(name_of("2", "").size(), kMaxSampleName);
  EXPECT_EQ(name_of("3", ""), "");
  EXPECT_EQ(name_of("3", "known now.jpg"), "known now.jpg");
  EXPECT_EQ(name_of("3", "other.jpg"), "known now.jpg") << "the first stays";
}

TEST_F(LabelStoreTest, OneSpellingIsOneLabel) {
  const std::string composed =
                        "\xc3\x9c"
                        "bung",
                    decomposed =
                        "U\xcc\x88"
                        "bung";
  add("a", {composed});
  EXPECT_FALSE(add("a", {decomposed}).is_new);
  add("b", {decomposed});
  EXPECT_EQ(summary(), composed + " 2/0");
  SampleQuery query;
  query.label = decomposed;
  EXPECT_EQ(store().samples(query).size(), 2u);
  store().rename_label(decomposed,
                       "U\xcc\x88"
                       "bungen");
  EXPECT_EQ(summary(),
            "\xc3\x9c"
            "bungen 2/0");
  const std::vector<std::string> globals = {decomposed};
  store().set_reconciliation("x", globals);
  EXPECT_THAT(store().reconciliation().at("x"), ElementsAre(composed));
}

TEST_F(LabelStoreTest, PagesFollowTheIds) {
  for (int i = 0; i < 25; ++i)
    add("sample " + std::to_string(i), {i % 2 ? "odd" : "even"}, Split::kTrain);
  SampleQuery query;
  query.label = "odd";
  query.limit = 5;
  std::vector<std::size_t> pages;
  for (;;) {
    const auto page = store().samples(query);
    if (page.empty()) break;
    for (const auto& sample : page) EXPECT_THAT(sample.labels, ElementsAre("odd"));
    query.after_id = page.back().id;
    pages.push_back(page.size());
  }
  EXPECT_THAT(pages, ElementsAre(5, 5, 2));
  query.label = "prime";
  expect_error(ErrorCode::kNotFound, {"'prime'"}, [&] { (void)store().samples(query); });
}

TEST_F(LabelStoreTest, AFifthIsHeldOutAndNoLabelGoesWithout) {
  for (int i = 0; i < 200; ++i) add("many " + std::to_string(i), {"many"});
  EXPECT_NEAR(static_cast<double>(store().labels()[0].validation), 40, 15);
  for (int label = 0; label < 20; ++label) {
    for (int i = 0; i < 5; ++i) {
      add(std::to_string(label) + "/" + std::to_string(i), {"label " + std::to_string(label)});
    }
  }
  for (const auto& label : store().labels()) {
    EXPECT_GE(label.validation, 1u) << label.name;
    EXPECT_GT(label.samples, label.validation) << label.name;
  }
}

TEST_F(LabelStoreTest, SplitsStayAndTheUsersChoiceIsKept) {
  for (int i = 0; i < 5; ++i) add(std::to_string(i), {"a"}, Split::kTrain);
  EXPECT_EQ(summary(), "a 5/0") << "all of them were chosen by the user";
  add("free", {"a"});
  EXPECT_EQ(summary(), "a 6/1");
  EXPECT_EQ(store().find(digest_of("free"))->split, Split::kValidation);
  int held_out = 0;
  store().for_each_sample(Split::kValidation, [&](const SampleRecord&) { ++held_out; });
  EXPECT_EQ(held_out, 1);
}

TEST_F(LabelStoreTest, ReconciliationFollowsTheLabel) {
  const std::vector<std::string> globals = {"Dog", "Bark", "Animal"};
  store().set_reconciliation("dog", globals);
  store().rename_label("dog", "hound");
  reopen();
  EXPECT_THAT(store().reconciliation().at("hound"), ElementsAre("Animal", "Bark", "Dog"));
  store().set_reconciliation("hound", {});
  EXPECT_TRUE(store().reconciliation().empty());
}

TEST_F(LabelStoreTest, BadInputIsRefused) {
  expect_error(ErrorCode::kInvalidArgument, {"needs a label"},
               [&] { store().relabel(add("r", {"a"}).digest, {}); });
  store().remove_label("a", true);
  const auto refused = [&](const std::string& label, const std::string& why) {
    expect_error(ErrorCode::kInvalidArgument, {why}, [&] { add("a", {label}); });
  };
  refused("", "empty");
  refused("a\nb", "control character");
  refused("a\xc2\x85", "control character");
  refused("a\xe2\x80\xa8 b", "control character");
  refused("a\xe2\x80\xae b", "direction");
  refused("caf\xe9", "UTF-8");
  refused("a ", "space");
  refused(std::string(201, 'x'), "200");
  add("hebrew", {"\xd7\x97\xd7\xaa\xd7\x95\xd7\x9c"});
  store().forget(digest_of("hebrew"));
  const std::vector<std::string> a = {"a"};
  expect_error(ErrorCode::kBadData, {"it is empty"}, [&] { store().add_sample({}, a); });
  expect_error(ErrorCode::kResourceExhausted, {"at most"},
               [&] { add(std::string(kMaxSampleBytes + 1, 'x'), {"a"}); });
  EXPECT_TRUE(store().samples().empty());
}

TEST_F(LabelStoreTest, ReadersStandBesideTheOneWriter) {
  add("a", {"cat"});
  const LabelStore reader(root(), Access::kReadOnly);
  add("b", {"cat"});
  EXPECT_EQ(reader.samples().size(), 2u);
  EXPECT_EQ(reader.content(digest_of("b")), bytes_of(photo("b")));
  expect_error(ErrorCode::kAlreadyExists, {"another process"},
               [&] { const LabelStore second(root(), Access::kReadWrite); });
  expect_error(ErrorCode::kNotFound, {"labels.db"},
               [&] { const LabelStore none(folder_ / "none", Access::kReadOnly); });
}

TEST_F(LabelStoreTest, AReaderCannotWrite) {
  add("a", {"cat"});
  LabelStore reader(root(), Access::kReadOnly);
  expect_error(ErrorCode::kFailedPrecondition, {"readonly"},
               [&] { reader.forget(digest_of("a")); });
}

TEST_F(LabelStoreTest, OrphansAreRemovedOnOpening) {
  const auto kept = add(large('k'), {"cat"});
  close();
  SampleFiles(root() / "files").write(digest_of(large('o')), bytes_of(photo(large('o'))));
  test::write_text(root() / "files" / "ab" / "half.tmp.12", "half");
  reopen();
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(store().content(kept.digest), bytes_of(photo(large('k'))));
}

TEST_F(LabelStoreTest, DamageIsFoundNotServed) {
  const auto added = add(large('x'), {"cat"});
  const auto path = SampleFiles(root() / "files").path_of(added.digest);
  test::write_text(path, large('z'));
  expect_error(ErrorCode::kBadData, {added.digest.hex(), "damaged"},
               [&] { (void)store().content(added.digest); });
}

TEST_F(LabelStoreTest, AForeignOrNewerDatabaseIsLeftAlone) {
  std::filesystem::create_directories(root());
  test::write_text(root() / "labels.db", std::string(4096, 'x'));
  expect_error(ErrorCode::kBadData, {"labels.db", "not a database"}, [&] { store(); });
  EXPECT_EQ(read_text(root() / "labels.db"), std::string(4096, 'x'));

  std::filesystem::remove(root() / "labels.db");
  store();
  close();
  Database(root() / "labels.db", Access::kReadWrite).run("PRAGMA user_version = 99");
  expect_error(ErrorCode::kUnimplemented, {"version 99"}, [&] { store(); });
}

TEST_F(LabelStoreTest, ThreadsMayShareIt) {
  store();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 20; ++i) add("shared " + std::to_string(i), {"cat"});
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(store().samples().size(), 20u);
}

}  // namespace
}  // namespace moil::data
