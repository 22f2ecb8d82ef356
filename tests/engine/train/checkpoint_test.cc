#include "engine/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <limits>

#include "base/files/file.h"
#include "base/process_memory.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

class CheckpointTest : public ::testing::Test {
 protected:
  std::vector<PersistentTensor> tensors() {
    return {{"fc.weight", TensorKind::kWeight, weight_},
            {"fc.weight/state0", TensorKind::kOptimizerState, state_}};
  }
  void save(const std::string& text = "{\"step\": 7}") { save_checkpoint(file_, text, tensors()); }

  // What load() says against the file.
  std::string refusal() {
    const std::string said =
        test::error_of([&] { (void)Checkpoint::load(file_); }, ErrorCode::kBadData);
    if (!said.empty()) {
      EXPECT_THAT(said, HasSubstr(file_.string()));
    }
    return said;
  }
  std::string refusal_of(Bytes bytes, bool sealed = true) {
    if (sealed) {  // as if it had been written so
      const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size() - 8);
      std::memcpy(bytes.data() + bytes.size() - 8, &hash, 8);
    }
    write_file_atomic(file_, bytes);
    return refusal();
  }
  Bytes file_bytes() { return read_file(file_, 1 << 20); }

  test::ScratchFolder folder_;
  fs::path file_ = folder_ / "night.ckpt";
  std::vector<float> weight_{1.5F, -2, 3e-40F, std::numeric_limits<float>::infinity()};
  std::vector<float> state_{4, 5};
};

TEST_F(CheckpointTest, GivesBackWhatWasSaved) {
  save();
  const auto saved_weight = weight_, saved_state = state_;
  weight_ = {0, 0, 0, 0};
  state_ = {0, 0};
  const auto checkpoint = Checkpoint::load(file_);
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->text(), "{\"step\": 7}");
  checkpoint->restore(tensors());
  EXPECT_EQ(weight_, saved_weight);
  EXPECT_EQ(state_, saved_state);
}

TEST_F(CheckpointTest, NothingWhereThereIsNoFile) { EXPECT_FALSE(Checkpoint::load(file_)); }

TEST_F(CheckpointTest, EmptyTextAndNoTensors) {
  save_checkpoint(file_, "", {});
  const auto checkpoint = Checkpoint::load(file_);
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->text(), "");
  checkpoint->restore({});
}

// The example of docs/checkpoint-format.md.
TEST_F(CheckpointTest, TheBytesAreAsDocumented) {
  std::vector<float> two{1, 2};
  const PersistentTensor tensor{"w", TensorKind::kWeight, two};
  save_checkpoint(file_, "{}", {&tensor, 1});
  const Bytes expected = {'M', 'O', 'I',  'L',  'C', 'K', 'P', 'T',            //
                          1,   0,   0,    0,                                   // version
                          1,   0,   0,    0,                                   // tensors
                          2,   0,   0,    0,    0,   0,   0,   0,   '{', '}',  // text
                          1,   0,   0,    0,    'w',                           // name
                          2,   0,   0,    0,    0,   0,   0,   0,              // elements
                          0,   0,   0x80, 0x3f, 0,   0,   0,   0x40};
  Bytes found = file_bytes();
  ASSERT_EQ(found.size(), expected.size() + 8);
  std::uint64_t hash = 0;
  std::memcpy(&hash, found.data() + expected.size(), 8);
  EXPECT_EQ(hash, 0xb69fa53747670dd3u);
  found.resize(expected.size());
  EXPECT_EQ(found, expected);
}

TEST_F(CheckpointTest, EveryFlippedBitIsSeen) {
  save();
  const Bytes good = file_bytes();
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    EXPECT_NE(refusal_of(bad, false), "") << "byte " << i;
  }
  EXPECT_EQ(refusal_of(good, false), "");
}

TEST_F(CheckpointTest, EveryTruncationIsSeen) {
  save();
  const Bytes good = file_bytes();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(
        refusal_of(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)), false),
        "")
        << size;
}

TEST_F(CheckpointTest, SaysWhatIsWrong) {
  save();
  const Bytes good = file_bytes();
  EXPECT_THAT(refusal_of({'h', 'e', 'l', 'l', 'o'}, false), HasSubstr("is not a checkpoint"));
  EXPECT_THAT(refusal_of({}, false), HasSubstr("is not a checkpoint"));
  EXPECT_THAT(refusal_of(Bytes(good.begin(), good.begin() + 15), false),
              HasSubstr("ends too early"));
  Bytes other = good;
  other[8] = 2;
  EXPECT_THAT(refusal_of(other, false), HasSubstr("version 2; this build reads 1"));
  Bytes flipped = good;
  flipped[40] ^= 1;
  EXPECT_THAT(refusal_of(flipped, false), HasSubstr("checksum differs"));
}

// Lengths that lie, under a checksum that is right.
TEST_F(CheckpointTest, LengthsAreNotTrusted) {
  save("text");
  const Bytes good = file_bytes();
  const auto with = [&](std::size_t at, std::uint8_t value, std::size_t count) {
    Bytes bad = good;
    std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), count, value);
    return refusal_of(bad);
  };
  EXPECT_THAT(with(12, 0xff, 4), HasSubstr("ends too early"));  // tensors
  EXPECT_THAT(with(16, 0xff, 8), HasSubstr("ends too early"));  // text
  EXPECT_THAT(with(28, 0xff, 4), HasSubstr("ends too early"));  // name
  EXPECT_THAT(with(32 + 9, 0xff, 8), HasSubstr("absurd"));      // elements
  EXPECT_THAT(with(32 + 9, 0x05, 1), HasSubstr("damaged"));
  EXPECT_THAT(with(12, 1, 1), HasSubstr("bytes behind its last tensor"));
}

TEST_F(CheckpointTest, RestoresAllOrNothing) {
  save();
  const auto checkpoint = Checkpoint::load(file_);
  const auto refuses = [&](std::vector<PersistentTensor> others, const std::string& why) {
    test::expect_error(ErrorCode::kBadData, why, [&] { checkpoint->restore(others); });
  };
  weight_ = {9, 9, 9, 9};
  std::vector<float> longer(3);
  auto others = tensors();
  others[1] = {others[1].name, others[1].kind, longer};
  refuses(others, "\"fc.weight/state0\"");
  others = tensors();
  others[1].name = "other";
  refuses(others, "\"other\"");
  others = tensors();
  others.pop_back();
  refuses(others, "has 2 tensors, the network 1");
  EXPECT_EQ(weight_, (std::vector<float>{9, 9, 9, 9}));
}

TEST_F(CheckpointTest, ReplacesTheOldOneWholeAndLeavesNothingBeside) {
  save("old");
  const auto old = Checkpoint::load(file_);
  save("new");
  EXPECT_EQ(Checkpoint::load(file_)->text(), "new");
  EXPECT_EQ(old->text(), "old");  // what was loaded is the file as it was
  EXPECT_EQ(folder_.files().size(), 1u);
  struct stat info {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CheckpointTest, TakesNoSecondCopyIntoMemory) {
  constexpr std::size_t kBytes = 32 << 20;
  std::vector<float> large(kBytes / sizeof(float), 1.5F);
  const PersistentTensor tensor{"large", TensorKind::kWeight, large};
  reset_peak_memory();
  const std::size_t before = resident_memory().bytes;
  if (before == 0) GTEST_SKIP() << "this system does not say what is resident";
  save_checkpoint(file_, "", {&tensor, 1});
  std::fill(large.begin(), large.end(), 0.0F);
  Checkpoint::load(file_)->restore({&tensor, 1});
  EXPECT_LT(resident_memory().peak_bytes, before + kBytes / 2);
  EXPECT_EQ(large, std::vector<float>(large.size(), 1.5F));
}

// Something in the way of the new file leaves the old one as it was.
TEST_F(CheckpointTest, AFailedSaveKeepsTheOldOne) {
  save("old");
  if (::geteuid() == 0) {
    const fs::path missing = folder_ / "gone" / "night.ckpt";
    EXPECT_THROW(save_checkpoint(missing, "new", tensors()), Error);
  } else {
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THROW(save("new"), Error);
    fs::permissions(folder_.path(), fs::perms::owner_all);
  }
  EXPECT_EQ(Checkpoint::load(file_)->text(), "old");
}

TEST_F(CheckpointTest, AFileThatCannotBeReadIsAnErrorAndNotMissing) {
  fs::create_directory(file_);
  EXPECT_THROW((void)Checkpoint::load(file_), Error);
}

}  // namespace
}  // namespace moil
