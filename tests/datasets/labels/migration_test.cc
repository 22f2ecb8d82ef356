// Label stores of older versions open with everything that was in them.
#include "datasets/labels/label_store.h"
#include "datasets/samples/dataset.h"
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

// What all versions have alike.
constexpr const char* kSharedTables = R"sql(
    CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
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
  )sql";

// As version 1 made it: the tables, and their names as they were typed.
void write_version_1(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Database database(folder / "labels.db", Database::Access::kReadWrite);
  database.run(kSharedTables);
  database.run(R"sql(
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
  const std::vector<Digest> used = {alike[0].digest, alike[1].digest};
  store.record_uses(used);
  EXPECT_EQ(store.samples()[0].split, Split::kTrain);
  EXPECT_EQ(store.samples()[1].split, Split::kValidation) << "as the user chose";
  EXPECT_EQ(store.samples()[1].scene, store.samples()[0].id);
}

// As version 4 left it: four pieces of two recordings, of which nights have trained on some without
// a note of it, and steps that hold what they did not change.
void write_version_4(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Database database(folder / "labels.db", Database::Access::kReadWrite);
  database.run(kSharedTables);
  database.run(R"sql(
    CREATE TABLE samples (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 16),
      media_type TEXT NOT NULL,
      size INTEGER NOT NULL CHECK (size > 0),
      content BLOB,
      added_at INTEGER NOT NULL,
      split INTEGER NOT NULL CHECK (split IN (0, 1)),
      split_chosen INTEGER NOT NULL CHECK (split_chosen IN (0, 1)),
      name TEXT NOT NULL DEFAULT '',
      likeness BLOB CHECK (likeness IS NULL OR length(likeness) IN (0, 16)),
      scene INTEGER NOT NULL DEFAULT 0,
      used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)),
      CHECK (content IS NULL OR length(content) = size)
    ) STRICT;
    CREATE TABLE forgetting (
      digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 16),
      name TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX samples_by_scene ON samples (scene) WHERE scene <> 0;
    CREATE TABLE steps (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL
    ) STRICT;
    CREATE TABLE step_samples (
      step_id INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
      digest BLOB NOT NULL CHECK (length(digest) = 16),
      labels TEXT,
      PRIMARY KEY (step_id, digest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX step_samples_by_digest ON step_samples (digest);
    CREATE TABLE step_labels (
      step_id INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      globals TEXT,
      PRIMARY KEY (step_id, name)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 4;
    INSERT INTO labels VALUES (1, 'knock'), (2, 'bird');
    INSERT INTO samples VALUES
      (1, x'01112233445566778899aabbccddeeff', 'audio/wav', 1, x'41', 7, 0, 0, 'walk 0-1 s',
       x'a0112233445566778899aabbccddeeff', 1, 0),
      (2, x'02112233445566778899aabbccddeeff', 'audio/wav', 1, x'42', 7, 0, 0, 'walk 1-2 s',
       x'a0112233445566778899aabbccddeeff', 1, 0),
      (3, x'03112233445566778899aabbccddeeff', 'audio/wav', 1, x'43', 7, 0, 0, 'way 0-1 s',
       x'b0112233445566778899aabbccddeeff', 3, 0),
      (4, x'04112233445566778899aabbccddeeff', 'audio/wav', 1, x'44', 7, 0, 0, 'way 1-2 s',
       x'b0112233445566778899aabbccddeeff', 3, 0),
      (5, x'05112233445566778899aabbccddeeff', 'image/png', 1, x'45', 7, 1, 0, 'bird.png',
       x'0f0f0f0f0f0f0f0f00ff00ff00ff00ff', 0, 1);
    INSERT INTO sample_labels VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 2);
    INSERT INTO reconciliation VALUES (1, 'Knock');
    INSERT INTO steps VALUES (1, 7, 'add', 'cuts'), (2, 8, 'merge', '');
    INSERT INTO step_samples VALUES (1, x'04112233445566778899aabbccddeeff', NULL),
      (2, x'03112233445566778899aabbccddeeff', 'bark' || char(10));
    INSERT INTO step_labels VALUES (1, 'knock', ''), (2, 'bark', 'Dog' || char(10)),
      (2, 'knock', 'Knock' || char(10));
  )sql");
}

TEST(LabelStoreMigration, WhatNightsHaveLearnedFromIsNoEvidenceAndPiecesStayTheirRecordings) {
  const test::TempFolder folder;
  write_version_4(folder / "labels");
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  for (const SampleRecord& sample : store.samples()) EXPECT_TRUE(sample.is_used) << sample.name;
  EXPECT_EQ(store.samples()[0].scene, 1);
  EXPECT_EQ(store.samples()[3].scene, 3);
  EXPECT_EQ(store.samples()[4].split, Split::kValidation);
  EXPECT_TRUE(store.samples()[4].is_looked_at);
  // A fifth piece of one of them: it lies with them, and they stay.
  const std::vector<std::string> knock = {"knock"};
  const Digest walk = Digest::from_hex("a0112233445566778899aabbccddeeff");
  const auto fifth =
      store.add_sample(test::bytes_of(test::photo("fifth")), knock, {}, {}, {}, walk);
  EXPECT_EQ(store.find(fifth.digest)->scene, 1);
  const auto other = store.add_sample(test::bytes_of(test::photo("other")), knock);
  EXPECT_EQ(other.split, Split::kValidation) << "the only one that no night can have learned from";
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(store.samples()[static_cast<std::size_t>(i)].split, Split::kTrain);
}

TEST(LabelStoreMigration, StepsUndoWhatTheyDidAndNoMore) {
  const test::TempFolder folder;
  write_version_4(folder / "labels");
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  EXPECT_EQ(store.undo().kind, "merge");
  EXPECT_THAT(store.samples()[2].labels, ElementsAre("bark"));
  EXPECT_THAT(store.reconciliation().at("bark"), ElementsAre("Dog"));
  EXPECT_EQ(store.undo({}, true).kind, "add");
  EXPECT_THAT(store.reconciliation().at("knock"), ElementsAre("Knock"))
      << "adding never changed what the label means";
  EXPECT_EQ(store.samples().size(), 4u);
}

// As version 5 left what nights have used: its sides are where it lay.
TEST(LabelStoreMigration, WhatNightsHaveUsedStaysWhereTheyUsedIt) {
  const test::TempFolder folder;
  write_version_4(folder / "labels");
  { const LabelStore store(folder / "labels", LabelStore::Access::kReadWrite); }
  Database(folder / "labels" / "labels.db", Database::Access::kReadWrite)
      .run(
          "ALTER TABLE samples DROP COLUMN used_split; UPDATE samples SET split = 1 WHERE id > 3;"
          "PRAGMA user_version = 5;");
  LabelStore store(folder / "labels", LabelStore::Access::kReadWrite);
  for (int i = 0; i < 5; ++i) {
    const SampleRecord sample = store.samples()[static_cast<std::size_t>(i)];
    EXPECT_TRUE(sample.is_used);
    EXPECT_EQ(sample.split, i < 3 ? Split::kTrain : Split::kValidation);
  }
}

}  // namespace
}  // namespace moil::data
