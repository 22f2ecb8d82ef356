// Label stores of older versions open with everything that was in them.
#include "datasets/labels/label_store.h"
#include "datasets/readers/dataset.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using ::testing::ElementsAre;

const std::string kComposed =
                      "\xc3\x9c"
                      "bung",
                  kDecomposed =
                      "U\xcc\x88"
                      "bung";

// As version 1 made it: the tables, and their names as they were typed.
void write_version_1(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Database database(folder / "labels.db", Database::Access::kReadWrite);
  database.run(R"sql(
    CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE samples (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 16),
      media_type TEXT NOT NULL,
      size INTEGER NOT NULL CHECK (size > 0),
      content BLOB,
      added_at INTEGER NOT NULL,
      split INTEGER NOT NULL CHECK (split IN (0, 1)),
      split_chosen INTEGER NOT NULL CHECK (split_chosen IN (0, 1)),
      CHECK (content IS NULL OR length(content) = size)
    ) STRICT;
    CREATE TABLE sample_labels (
      sample_id INTEGER NOT NULL REFERENCES samples (id) ON DELETE CASCADE,
      label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE RESTRICT,
      PRIMARY KEY (sample_id, label_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sample_labels_by_label ON sample_labels (label_id, sample_id);
    CREATE TABLE reconciliation (
      label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
      global_label TEXT NOT NULL,
      PRIMARY KEY (label_id, global_label)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;
    INSERT INTO samples VALUES (1, x'00112233445566778899aabbccddeeff', 'text/plain', 1, x'41', 7, 0, 0);
    INSERT INTO samples VALUES (2, x'10112233445566778899aabbccddeeff', 'image/png', 1, x'42', 7, 1, 1);
  )sql");
  Statement insert(database, "INSERT INTO labels VALUES (?, ?)");
  insert.bind(std::int64_t{1}).bind(std::string_view(kComposed)).run();
  insert.bind(std::int64_t{2}).bind(std::string_view(kDecomposed)).run();
  insert.bind(std::int64_t{3})
      .bind(std::string_view("a\xe2\x80\xae"
                             "b"))
      .run();
  database.run(
      "INSERT INTO sample_labels VALUES (1, 1), (1, 2), (2, 2), (2, 3);"
      "INSERT INTO reconciliation VALUES (1, 'x'), (2, 'x'), (2, 'y');");
}

TEST(LabelStoreMigration, LabelsThatReadTheSameBecomeOneWithAllTheyHad) {
  const test::TempFolder folder;
  write_version_1(folder / "labels");
  const LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  const auto labels = store.labels();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].name,
            "a\xef\xbf\xbd"
            "b")
      << "what no name may hold is marked";
  EXPECT_EQ(labels[1].name, kComposed);
  EXPECT_EQ(labels[1].samples, 2u);
  EXPECT_THAT(store.reconciliation().at(kComposed), ElementsAre("x", "y"));
  const auto samples = store.samples();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].name, "") << "not known";
  EXPECT_THAT(samples[0].labels, ElementsAre(kComposed));
  EXPECT_EQ(samples[1].split, Split::kValidation);
}

// As version 2 had them, of which nobody knows what nights have trained on.
TEST(LabelStoreMigration, WhatWasThereIsOfNoSceneYetAndMayHaveBeenTrainedOn) {
  const test::TempFolder folder;
  write_version_1(folder / "labels");
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  for (const SampleRecord& sample : store.samples()) {
    EXPECT_EQ(sample.scene, kOwnScene);
    EXPECT_FALSE(sample.is_looked_at);
  }
  // The first was trained on, so its scene stays there, whatever is of it.
  const Likeness scene{0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff};
  const std::vector<SampleLikeness> alike = {{store.samples()[0].digest, scene},
                                             {store.samples()[1].digest, scene}};
  store.record_likenesses(alike);
  EXPECT_EQ(store.samples()[0].split, Split::kTrain);
  EXPECT_EQ(store.samples()[1].split, Split::kValidation) << "as the user chose";
  EXPECT_EQ(store.samples()[1].scene, store.samples()[0].id);
}

}  // namespace
}  // namespace moil::data
