#include "datasets/readers/tar_index.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/files/file.h"
#include "base/random.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::bytes_of;
using test::expect_error;
using test::TarEntry;
using test::write_tar;

std::vector<TarEntry> entries() {
  return {{"a/", {}},
          {"a/one.jpg", bytes_of("first")},
          {"./a/two.jpg", bytes_of(std::string(512, '2'))},
          {"b/empty.jpg", {}},
          {"b/" + std::string(120, 'p') + "/" + std::string(60, 'q') + ".jpg", bytes_of("prefix")}};
}

std::vector<TarEntry> read_all(const std::filesystem::path& path) {
  const InputFile file(path);
  std::vector<TarEntry> result;
  for (const auto& member : index_tar(file)) {
    result.push_back({member.name, file.read(member.offset, member.size)});
  }
  return result;
}

class TarIndexTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "x.tar"; }
  void refused(const std::vector<std::uint8_t>& bytes, const std::vector<std::string>& fragments) {
    test::write_bytes(path(), bytes);
    expect_error(ErrorCode::kBadData, fragments, [&] { (void)index_tar(InputFile(path())); });
  }
  test::TempFolder folder_;
};

TEST_F(TarIndexTest, FindsWhatLibarchiveWrote) {
  for (const int format :
       {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE}) {
    auto expected = entries();
    if (format != ARCHIVE_FORMAT_TAR_USTAR) {
      expected.push_back({"c/" + std::string(300, 'n') + "ü.jpg", bytes_of("a long name")});
    }
    write_tar(path(), expected, format);
    expected.erase(expected.begin());
    expected[1].name = "a/two.jpg";
    const auto found = read_all(path());
    ASSERT_EQ(found.size(), expected.size()) << format;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      EXPECT_EQ(found[i].bytes, expected[i].bytes);
    }
  }
}

TEST_F(TarIndexTest, EveryTruncationIsFound) {
  write_tar(path(), entries());
  const auto whole = read_file(path(), 1 << 20);
  std::size_t content = whole.size();
  while (whole[content - 1] == 0) --content;
  for (std::size_t size = 0; size < content; size += 100) {
    refused({whole.begin(), whole.begin() + static_cast<long>(size)}, {"x.tar", "cut off"});
  }
}

TEST_F(TarIndexTest, OtherFilesAreNoTar) {
  refused(bytes_of(std::string(2000, 'x')), {"x.tar", "byte 0", "no tar header"});
  refused({}, {"cut off"});
}

TEST_F(TarIndexTest, ADamagedHeaderIsNamedByItsOffset) {
  write_tar(path(), entries());
  auto bytes = read_file(path(), 1 << 20);
  bytes[512 + 3] ^= 1;  // the second header's name
  refused(bytes, {"x.tar", "byte 512", "checksum"});
}

// GNU tar's way to tell a size for which eleven octal digits are too few.
TEST_F(TarIndexTest, SizesOfBase256AreRead) {
  const std::vector<TarEntry> photo = {{"photo.jpg", bytes_of(std::string(0x1234, 'x'))}};
  write_tar(path(), photo);
  auto bytes = read_file(path(), 1 << 20);
  std::fill_n(bytes.begin() + 124, 12, 0);
  bytes[124] = 0x80;
  bytes[134] = 0x12;
  bytes[135] = 0x34;
  std::fill_n(bytes.begin() + 148, 8, ' ');
  char sum[8];
  std::snprintf(sum, sizeof sum, "%06o", std::accumulate(&bytes[0], &bytes[512], 0U));
  std::copy_n(sum, 7, bytes.begin() + 148);
  test::write_bytes(path(), bytes);
  ASSERT_EQ(read_all(path()).size(), 1u);
  EXPECT_EQ(read_all(path())[0].bytes, photo[0].bytes);
}

// A photo, a hard link to it, a symbolic link and a pipe.
void write_links(const std::filesystem::path& path, int format) {
  const std::string longer = "a/" + std::string(130, 'l') + ".jpg";
  archive* out = archive_write_new();
  archive_write_set_format(out, format);
  archive_write_open_filename(out, path.c_str());
  archive_entry* entry = archive_entry_new();
  const auto write = [&](const std::string& name, const std::string& content) {
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(out, entry);
    archive_write_data(out, content.data(), content.size());
    archive_entry_clear(entry);
  };
  archive_entry_set_filetype(entry, AE_IFREG);
  write(longer, "photo");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_hardlink(entry, longer.c_str());
  write("b/same.jpg", "");
  archive_entry_set_filetype(entry, AE_IFLNK);
  archive_entry_set_symlink(entry, ("/" + std::string(130, 'e') + "/passwd").c_str());
  write("a/link.jpg", "");
  archive_entry_set_filetype(entry, AE_IFIFO);
  write("a/pipe.jpg", "");
  archive_entry_set_filetype(entry, AE_IFREG);
  write("c/last.jpg", "last");
  archive_entry_free(entry);
  archive_write_close(out);
  archive_write_free(out);
}

TEST_F(TarIndexTest, LinksArePassedOverAndHardOnesAreWhatTheyName) {
  for (const int format : {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE}) {
    write_links(path(), format);
    const InputFile file(path());
    std::size_t passed_over = 0;
    const auto members = index_tar(file, &passed_over);
    EXPECT_EQ(passed_over, 2U);
    ASSERT_EQ(members.size(), 3U) << format;
    EXPECT_EQ(members[1].name, "b/same.jpg");
    EXPECT_EQ(file.read(members[1].offset, members[1].size), bytes_of("photo"));
    EXPECT_EQ(members[2].name, "c/last.jpg");
    EXPECT_EQ(file.read(members[2].offset, members[2].size), bytes_of("last"));
  }
}

TEST_F(TarIndexTest, WhereOnlyFilesBelongLinksAreRefused) {
  write_links(path(), ARCHIVE_FORMAT_TAR_GNUTAR);
  expect_error(ErrorCode::kBadData, {"type '1'"}, [&] { (void)index_tar(InputFile(path())); });
}

TEST_F(TarIndexTest, DamageIsSurvived) {
  write_tar(path(), entries(), ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE);
  const auto good = read_file(path(), 1 << 20);
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    auto bytes = good;
    const std::size_t at = random.below(bytes.size());
    bytes[at] = static_cast<std::uint8_t>(random.below(256));
    test::write_bytes(path(), bytes);
    const InputFile file(path());
    try {
      for (const auto& member : index_tar(file)) {
        EXPECT_LE(member.offset + member.size, file.size());
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
    }
  }
}

}  // namespace
}  // namespace moil::data
