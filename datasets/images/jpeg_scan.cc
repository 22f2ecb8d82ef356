#include "datasets/images/jpeg_scan.h"

#include <algorithm>
#include <array>
#include <optional>

namespace moil::data {
namespace {

using Bytes = std::span<const std::uint8_t>;

// 512 zero bits: the most negative of their size, coefficient after coefficient.
constexpr std::size_t kLongestOfPictures = 64;

bool is_restart(unsigned marker) { return marker >= 0xd0 && marker <= 0xd7; }

class Scanner {
 public:
  explicit Scanner(Bytes jpeg) : jpeg_(jpeg) {}

  bool finds_zeros() {
    std::size_t at = 2;
    while (at + 4 <= jpeg_.size()) {
      if (jpeg_[at] != 0xff || jpeg_[at + 1] == 0xff || jpeg_[at + 1] == 0) {
        ++at;  // filling, or stray bytes
        continue;
      }
      const unsigned marker = jpeg_[at + 1];
      if (marker == 0xd9) return false;
      if (marker == 1 || is_restart(marker)) {
        at += 2;
        continue;
      }
      const std::size_t size = jpeg_[at + 2] * 256U + jpeg_[at + 3];
      if (size < 2 || size > jpeg_.size() - at - 2) return false;
      const Bytes content = jpeg_.subspan(at + 4, size - 2);
      at += 2 + size;
      if (marker == 0xc4) take_tables(content);
      if (marker != 0xda) continue;
      const Bytes scan = jpeg_.subspan(at, scan_size(at));
      if (zeros_mean_detail(content) && longest_zeros(scan) >= kLongestOfPictures) return true;
      at += scan.size();
    }
    return false;
  }

 private:
  // A table's first symbol is the one whose code is all zeros.
  void take_tables(Bytes tables) {
    while (tables.size() > 17) {
      const unsigned which = tables[0];
      std::size_t symbols = 0;
      for (std::size_t i = 1; i <= 16; ++i) symbols += tables[i];
      if ((which >> 4) == 1 && (which & 15) < 4 && symbols > 0) zero_code_[which & 15] = tables[17];
      tables = tables.subspan(std::min(17 + symbols, tables.size()));
    }
  }

  // Whether zero bits are coefficients other than zero, in a component of the scan.
  bool zeros_mean_detail(Bytes header) const {
    const std::size_t components = header.empty() ? 0 : header[0];
    if (header.size() < 2 * components + 4) return false;
    if (header[2 * components + 2] == 0) return false;  // a progressive scan of averages alone
    for (std::size_t i = 0; i < components; ++i) {
      const unsigned table = header[2 * i + 2] & 15U;
      if (table < 4 && zero_code_[table] && (*zero_code_[table] & 15U) != 0) return true;
    }
    return false;
  }

  // Up to the next marker that is no restart.
  std::size_t scan_size(std::size_t begin) const {
    for (std::size_t at = begin; at + 1 < jpeg_.size(); ++at) {
      if (jpeg_[at] != 0xff) continue;
      const unsigned next = jpeg_[at + 1];
      if (next != 0 && next != 0xff && !is_restart(next)) return at - begin;
    }
    return jpeg_.size() - begin;
  }

  static std::size_t longest_zeros(Bytes scan) {
    std::size_t longest = 0;
    for (std::size_t at = 0; at < scan.size(); ++at) {
      if (scan[at] != 0) continue;
      const std::size_t begin = at;
      while (at < scan.size() && scan[at] == 0) ++at;
      longest = std::max(longest, at - begin);
    }
    return longest;
  }

  Bytes jpeg_;
  std::array<std::optional<std::uint8_t>, 4> zero_code_;  // by table, of coefficients
};

}  // namespace

bool has_zeroed_scan(Bytes jpeg) { return Scanner(jpeg).finds_zeros(); }

}  // namespace moil::data
