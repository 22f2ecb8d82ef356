#include "daemon/json/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace moil::daemon {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein distance with one row of the table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view found, std::span<const std::string> known) {
  constexpr std::size_t kLongest = 128;  // a stranger's name of megabytes is not worth comparing
  if (found.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, found.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(found, name);
    if (distance < best_distance && distance < name.size()) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace moil::daemon
