// Images and archives made by the tests.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "datasets/images/codec.h"
#include "datasets/kinds/image/image_kind.h"

namespace moil::data::test {

// A pattern with both slopes and sharp edges; the tables of expected values are made from it.
inline Image pattern(int width, int height, int channels) {
  Image image;
  image.resize(width, height, channels);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        image.pixels[i++] = static_cast<std::uint8_t>(x * x * 3 + y * 37 + c * 71 + x * y * 5);
      }
    }
  }
  return image;
}

// A smooth image, which JPEG keeps well.
inline Image gradient(int width, int height, int channels) {
  Image image;
  image.resize(width, height, channels);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        image.pixels[i++] =
            static_cast<std::uint8_t>(40 + 120 * x / width + 60 * y / height + 10 * c);
      }
    }
  }
  return image;
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
