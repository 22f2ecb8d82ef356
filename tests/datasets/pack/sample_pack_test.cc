#include "datasets/pack/sample_pack.h"

#include <map>

#include "base/files/file.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/readers/sample_folder.h"
#include "datasets/tables/csv_digits.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using nlohmann::json;
using test::expect_error;
using test::pattern;
using ::testing::ElementsAre;

KindPtr grey8() {
  Preprocessing p;
  p.channels = 1;
  p.height = p.width = 8;
  p.mean = {0};
  p.stddev = {1};
  return image_kind(p);
}

class SamplePackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i) {
      const std::string name = (i % 2 ? "süß, sour/" : "bitter/") + std::to_string(i);
      const bool png = i % 3 != 0;
      test::write_bytes(
          folder_ / ("f/" + name + (png ? ".png" : ".jpg")),
          png ? encode_png(pattern(8 + i, 8, 3)) : encode_jpeg(pattern(16 + i, 16, 3), 90));
    }
    SampleFolderOptions options;
    options.split.validation_fraction = 0.4;
    source_ = open_sample_folder(folder_ / "f", options);
  }
  void write(PackOptions options = {}) { write_sample_pack(pack(), *source_, grey8(), options); }
  std::filesystem::path pack() const { return folder_ / "pack"; }
  json manifest() const { return parsed_json(read_text(pack() / "pack.json")); }
  // Opening fails after pack.json was changed.
  void refused(const std::function<void(json&)>& change, ErrorCode code,
               const std::vector<std::string>& fragments) {
    const std::string good = read_text(pack() / "pack.json");
    json changed = parsed_json(good);
    change(changed);
    write_file_atomic(pack() / "pack.json", changed.dump());
    expect_error(code, fragments, [&] { (void)open_sample_pack(pack()); });
    write_file_atomic(pack() / "pack.json", good);
  }
  test::TempFolder folder_;
  std::unique_ptr<SampleFolder> source_;
};

TEST_F(SamplePackTest, HoldsTheSameSamples) {
  PackOptions options;
  options.shard_bytes = 700;  // several shards
  write(options);
  const auto opened = open_sample_pack(pack());
  EXPECT_GT(opened->manifest().shards.size(), 3u);
  EXPECT_EQ(opened->manifest().sample_kind->to_json(), grey8()->to_json());
  EXPECT_EQ(opened->classes(), source_->classes());
  ASSERT_EQ(opened->size(), source_->size());
  std::map<Digest, std::size_t> by_digest;
  for (std::size_t i = 0; i < source_->size(); ++i) by_digest[source_->digest(i)] = i;
  for (std::size_t i = 0; i < opened->size(); ++i) {
    ASSERT_TRUE(by_digest.contains(opened->digest(i)));
    const std::size_t j = by_digest.at(opened->digest(i));
    EXPECT_EQ(opened->split(i), source_->split(j));
    EXPECT_EQ(opened->labels(i)[0], source_->labels(j)[0]);
    EXPECT_EQ(opened->encoded(i), source_->encoded(j));
    EXPECT_EQ(test::image_of(*opened, i), test::image_of(*source_, j));
  }
  EXPECT_EQ(samples_of(*opened, Split::kValidation).size(), 4u);
}

TEST_F(SamplePackTest, IsTheSameBytesEveryTime) {
  write();
  write_sample_pack(folder_ / "again", *source_, grey8());
  for (const auto& entry : std::filesystem::directory_iterator(pack())) {
    EXPECT_EQ(read_text(entry.path()),
              read_text(folder_ / "again" / entry.path().filename().string()));
  }
}

TEST_F(SamplePackTest, ShardsAreSampleFoldersForAnyTool) {
  write();
  const auto shard = open_sample_folder(pack() / "train-00000.tar");
  EXPECT_EQ(shard->classes(), source_->classes());
  EXPECT_EQ(shard->size(), 6u);
}

TEST_F(SamplePackTest, DigitsBecomePng) {
  std::string row;
  for (int i = 0; i < 64; ++i) row += std::to_string(i % 17) + ",";
  test::write_text(folder_ / "digits.csv", row + "3\n");
  const CsvDigits digits(folder_ / "digits.csv");
  write_sample_pack(folder_ / "digits", digits, grey8());
  const auto opened = open_sample_pack(folder_ / "digits");
  EXPECT_EQ(test::image_of(*opened, 0), test::image_of(digits, 0));
  EXPECT_THAT(opened->labels(0), ElementsAre(3));
}

TEST_F(SamplePackTest, AFolderInUseIsNotWrittenTo) {
  write();
  expect_error(ErrorCode::kAlreadyExists, {"pack", "not empty"}, [&] { write(); });
}

TEST_F(SamplePackTest, DamagedShardsAreFound) {
  write();
  const auto shard = pack() / "val-00000.tar";
  auto bytes = read_file(shard, 1 << 20);
  bytes[600] ^= 1;
  test::write_bytes(shard, bytes);
  expect_error(ErrorCode::kBadData, {"val-00000.tar", "checksum"},
               [&] { (void)open_sample_pack(pack()); });
  bytes.resize(bytes.size() - 512);
  test::write_bytes(shard, bytes);
  expect_error(ErrorCode::kBadData, {"val-00000.tar", "bytes"},
               [&] { (void)open_sample_pack(pack()); });
  std::filesystem::remove(shard);
  expect_error(ErrorCode::kNotFound, {"val-00000.tar"}, [&] { (void)open_sample_pack(pack()); });
}

TEST_F(SamplePackTest, BadManifestsAreNamedByField) {
  write();
  const auto bad = ErrorCode::kBadData;
  refused([](json& m) { m["version"] = 2; }, ErrorCode::kUnimplemented, {"version 2"});
  refused([](json& m) { m["format"] = "zip"; }, bad, {"pack.json", "'format'"});
  refused([](json& m) { m["kind"] = "sounds"; }, bad, {"'kind'", "sounds"});
  refused([](json& m) { m.erase("classes"); }, bad, {"'classes' is missing"});
  refused([](json& m) { m["classes"] = {"a", "a"}; }, bad, {"'classes'"});
  refused([](json& m) { m["classes"] = {"a", "b"}; }, bad, {"no class of the pack"});
  refused([](json& m) { m["surprise"] = 1; }, bad, {"'surprise'"});
  refused([](json& m) { m["samples"]["val"] = 5; }, bad, {"'val'", "5"});
  refused([](json& m) { m["preprocessing"]["height"] = -1; }, bad, {"pack.json", "'height'"});
  refused([](json& m) { m["shards"] = 3; }, bad, {"'shards'"});
  refused([](json& m) { m["shards"][0]["file"] = "../secret.tar"; }, bad, {"shards[0]", "'file'"});
  refused([](json& m) { m["shards"][1]["xxh3_128"] = "12"; }, bad, {"shards[1]", "xxh3_128"});
  refused([](json& m) { m["shards"][0]["samples"] = 7, m["samples"]["train"] = 7; }, bad,
          {"holds 6 samples", "7"});
  write_file_atomic(pack() / "pack.json", "{");
  expect_error(bad, {"pack.json", "parse error"}, [&] { (void)open_sample_pack(pack()); });
  expect_error(ErrorCode::kNotFound, {"pack.json"}, [&] { (void)open_sample_pack(folder_ / "f"); });
}

TEST_F(SamplePackTest, ClassesThatCannotNameAFolderAreRefused) {
  class Odd : public TableDataset<SampleDataset> {
   public:
    explicit Odd(const std::string& name) { table_ = SampleTable({name}); }
    Digest digest(std::size_t) const override { return {}; }
    std::vector<std::uint8_t> encoded(std::size_t) const override { return {}; }
    std::string name(std::size_t) const override { return ""; }
  };
  const std::pair<const char*, const char*> cases[] = {
      {"a/b", "'a/b'"}, {"..", "'..'"}, {"caf\xe9", "\"caf\xef\xbf\xbd\" is not UTF-8"}};
  for (const auto& [name, said] : cases) {
    const Odd odd(name);
    expect_error(ErrorCode::kInvalidArgument, {said},
                 [&] { write_sample_pack(pack(), odd, grey8()); });
    expect_error(ErrorCode::kInvalidArgument, {said}, [&] { check_sample_pack(pack(), odd); });
  }
  EXPECT_FALSE(std::filesystem::exists(pack()));
}

}  // namespace
}  // namespace moil::data
