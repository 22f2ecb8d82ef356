#include "daemon/night/data/decoding.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/files/file.h"
#include "daemon/night/maps/feature_source.h"
#include "datasets/kinds/several/several_kind.h"
#include "tests/daemon/night/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::night {
namespace {

using ::testing::HasSubstr;

// Photos of the sides given, one a class.
class Photos : public data::TableDataset<data::SampleDataset> {
 public:
  explicit Photos(const std::vector<int>& sides) {
    std::vector<std::string> classes;
    for (const int side : sides) classes.push_back("side " + std::to_string(side));
    table_ = data::SampleTable(classes);
    for (const int side : sides) {
      data::Image image;
      image.resize(side, side, 1);
      files_.push_back(data::encode_png(image));
      table_.add({static_cast<data::ClassId>(files_.size() - 1)});
    }
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(files_[i]); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    const int now = ++reading_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --reading_;
    return files_[i];
  }
  data::EncodedHead head(std::size_t i, std::size_t) const override {
    return {files_[i], files_[i].size()};
  }
  std::string name(std::size_t i) const override { return "photo " + std::to_string(i); }

  int most_at_once() const { return most_; }

 private:
  std::vector<std::vector<std::uint8_t>> files_;
  mutable std::atomic<int> reading_ = 0, most_ = 0;
};

data::Mix mix_of(const Photos& photos) {
  data::Mix mix;
  for (std::size_t i = 0; i < photos.size(); ++i)
    mix.train.push_back({{data::Source::kLocal, i}, photos.digest(i), {0}});
  return mix;
}

TEST(Decoding, NeedsAreThoseOfTheLargestPhotos) {
  const Photos photos({64, 2000, 64, 1000, 64});
  Origins origins;
  origins.local_samples = &photos;
  const data::KindPtr kind = grey_images(8);
  const auto bytes = [&](std::size_t i) { return decoding_bytes(photos, i, *kind); };
  EXPECT_GT(bytes(1), 4'000'000U);
  EXPECT_LT(bytes(1), 5'000'000U);
  const DecodingNeeds two = decoding_needs(origins, mix_of(photos), *kind, 2);
  EXPECT_EQ(two.largest, bytes(1));
  EXPECT_EQ(two.side_by_side, bytes(1) + bytes(3));
  EXPECT_EQ(two.usual, bytes(0));
  EXPECT_EQ(decoding_needs(origins, mix_of(photos), *kind, 64).side_by_side,
            bytes(0) + bytes(1) + bytes(2) + bytes(3) + bytes(4));
  EXPECT_EQ(decoding_needs({}, mix_of(photos), *kind, 2).largest, 0U) << "feature maps";
}

TEST(Decoding, TheRoomIsWhatIsNeededAndNoMoreThanThereIs) {
  constexpr std::size_t kMiB = 1 << 20;
  const auto room = [](std::size_t largest, std::size_t side_by_side, std::optional<int> there) {
    std::optional<std::size_t> available;
    if (there) available = static_cast<std::size_t>(*there) * kMiB;
    return choose_room({largest * kMiB, side_by_side * kMiB, 2 * kMiB}, available) / kMiB;
  };
  EXPECT_EQ(room(10, 40, {}), 40U);
  EXPECT_EQ(room(50, 800, {}), 256U);
  EXPECT_EQ(room(300, 800, {}), 300U);
  EXPECT_EQ(room(300, 800, 70), 70U);
  EXPECT_EQ(room(10, 40, 70), 40U);
  EXPECT_EQ(room(10, 40, 1), 2U) << "for the usual photo: the job is refused";
}

TEST(Decoding, APhotoThatFitsNoRoomIsNamedWithBothNumbers) {
  DecodingRoom room(10 << 20);
  std::string text;
  const Photos photos({8, 9});
  EXPECT_EQ(error_of([&] { room.enter(200 << 20, photos, 1); }, &text), ErrorCode::kBadData);
  EXPECT_THAT(text, HasSubstr("photo 1: "));
  EXPECT_THAT(text, HasSubstr("200 MiB"));
  EXPECT_THAT(text, HasSubstr("10 MiB"));
  room.enter(10 << 20, photos, 0);
  room.leave(10 << 20);
}

// Archives, of which only the whole tells what lies in them; each is read to tell.
class Archives : public Photos {
 public:
  Archives() : Photos({8}) {
    TempFolder folder;
    data::test::write_tar(folder / "sample.tar", {{"other.bin", std::vector<std::uint8_t>(400'000)},
                                                  {"photo.png", Photos::encoded(0)}});
    const std::string text = read_text(folder / "sample.tar");
    file_.assign(text.begin(), text.end());
  }
  std::vector<std::uint8_t> encoded(std::size_t) const override {
    ++read_;
    return file_;
  }
  data::EncodedHead head(std::size_t, std::size_t most) const override {
    return {{file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(most)}, file_.size()};
  }
  std::size_t size_of_file() const { return file_.size(); }
  int read() const { return read_; }

 private:
  std::vector<std::uint8_t> file_;
  mutable int read_ = 0;
};

TEST(Decoding, AnArchiveIsNeverReadWhereItIsLargerThanItsRoom) {
  const Archives archives;
  const data::KindPtr kind = data::several_kind({{"photo", grey_images(8)}});
  const std::size_t bytes = decoding_bytes(archives, 0, *kind);
  EXPECT_GE(bytes, 2 * archives.size_of_file());
  EXPECT_EQ(archives.read(), 1);
  EXPECT_EQ(decoding_bytes(archives, 0, *kind, 100'000), archives.size_of_file());
  DecodingRoom narrow(archives.size_of_file()), wide(bytes);
  const auto maker = kind->maker({});
  std::optional<DecodingRoom::Place> place;
  EXPECT_EQ(error_of([&] { load_sample(*maker, *kind, archives, 0, &narrow, place); }),
            ErrorCode::kBadData);
  EXPECT_EQ(archives.read(), 1);
  load_sample(*maker, *kind, archives, 0, &wide, place);
  EXPECT_EQ(archives.read(), 3) << "to tell, and to decode";
}

// More views than threads, so that each thread keeps photos between them; none waits for itself.
TEST(Decoding, OnlyAsManyPhotosAsFitAreDecodedAtOnce) {
  const Photos photos({300, 301, 302, 303, 304, 305, 306, 307});
  Origins origins;
  origins.local_samples = &photos;
  const ModelBundle bundle = small_bundle();
  const data::Mix mix = mix_of(photos);
  KernelSelector kernels;
  Backbone identity(bundle.description, {}, {}, 32, kernels);
  std::vector<SampleView> wanted;
  for (const auto& sample : mix.train)
    for (std::uint16_t view = 0; view < 4; ++view) wanted.push_back({&sample, view});
  std::vector<float> free(wanted.size() * 64), bounded(free.size());
  FeatureReader(origins, bundle.kind, identity, nullptr, {}, {4, true}).read(wanted, free.data());

  const Photos again({300, 301, 302, 303, 304, 305, 306, 307});
  origins.local_samples = &again;
  DecodingRoom room(decoding_needs(origins, mix, *bundle.kind, 1).largest);
  origins.room = &room;
  FeatureReader(origins, bundle.kind, identity, nullptr, {}, {4, true})
      .read(wanted, bounded.data());
  EXPECT_EQ(again.most_at_once(), 1);
  EXPECT_EQ(free, bounded);
}

}  // namespace
}  // namespace moil::night
