// Images and archives made by the tests.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "datasets/images/codec.h"
#include "datasets/kinds/image/image_kind.h"
#include "tests/scratch_folder.h"

namespace moil::data::test {

// Its pixels by value(x, y, channel).
template <class Value>
Image drawn(int width, int height, int channels, const Value& value) {
  Image image;
  image.resize(width, height, channels);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.pixels[i++] = static_cast<std::uint8_t>(value(x, y, c));
  return image;
}

// A pattern with both slopes and sharp edges; the tables of expected values are made from it.
inline Image pattern(int width, int height, int channels) {
  return drawn(width, height, channels,
               [](int x, int y, int c) { return x * x * 3 + y * 37 + c * 71 + x * y * 5; });
}

// A smooth image, which JPEG keeps well.
inline Image gradient(int width, int height, int channels) {
  return drawn(width, height, channels, [&](int x, int y, int c) {
    return 40 + 120 * x / width + 60 * y / height + 10 * c;
  });
}

struct TarEntry {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

// Written by libarchive, so that our reader is held against another's idea of the format.
// format: ARCHIVE_FORMAT_TAR_USTAR, _GNUTAR, _PAX_INTERCHANGE.
inline void write_tar(const std::filesystem::path& path, const std::vector<TarEntry>& entries,
                      int format = ARCHIVE_FORMAT_TAR_USTAR) {
  archive* out = archive_write_new();
  archive_write_set_format(out, format);
  archive_write_open_filename(out, path.c_str());
  for (const auto& [name, bytes] : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_write_header(out, entry);
    archive_write_data(out, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
}

inline std::vector<std::uint8_t> tar_of(const std::vector<TarEntry>& entries) {
  const moil::test::ScratchFolder folder;
  write_tar(folder / "sample.tar", entries);
  return read_file(folder / "sample.tar", std::size_t{1} << 30);
}

inline void write_gzip(const std::filesystem::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

// Images of this side, pixels less 1.
inline KindPtr rgb_images(int side) {
  Preprocessing p;
  p.height = p.width = side;
  p.mean = p.stddev = {1, 1, 1};
  return image_kind(p);
}

}  // namespace moil::data::test
