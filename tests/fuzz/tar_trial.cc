#include <optional>

#include "base/json/json.h"
#include "datasets/kinds/kind.h"
#include "datasets/kinds/several/several_kind.h"
#include "datasets/readers/sample_folder.h"
#include "datasets/readers/tar_index.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using namespace data;

void check_members(const std::vector<TarMember>& members, std::size_t archive_bytes) {
  for (const TarMember& member : members) {
    require(!member.name.empty() && !member.name.starts_with("./"), "a member has a name");
    require(member.offset <= archive_bytes && member.size <= archive_bytes - member.offset,
            "a member lies in its archive");
  }
}

bool is_same(const std::vector<TarMember>& a, const std::vector<TarMember>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.offset == y.offset && x.size == y.size;
  });
}

// In place; links are refused, or counted.
bool check_index(const MemoryFile& file, std::size_t archive_bytes) {
  const InputFile input(file.path());
  std::optional<std::vector<TarMember>> strict, lenient;
  accepts([&] { strict = index_tar(input); });
  std::size_t passed_over = 0;
  accepts([&] { lenient = index_tar(input, &passed_over); });
  require(!strict || (lenient && is_same(*strict, *lenient) && passed_over == 0),
          "what is read without links is read with them");
  if (lenient) check_members(*lenient, archive_bytes);
  return lenient.has_value();
}

void check_folders(const MemoryFile& file) {
  accepts([&] {
    const auto folder = open_sample_folder(file.path());
    require(folder->size() > 0, "classes have samples");
    for (std::size_t i = 0; i < folder->size(); ++i) {
      require(folder->labels(i).size() == 1 && folder->labels(i)[0] < folder->classes().size(),
              "a sample has a class");
      (void)folder->encoded(i);
      (void)folder->name(i);
    }
  });
}

// By libarchive: a photo and numbers of one moment.
void check_tar_sample(std::span<const std::uint8_t> bytes) {
  static const KindPtr kind = kind_from_json(parsed_json(R"({
    "kind": "several",
    "inputs": [{"file": "sensor", "kind": "rows", "dims": [4], "mean": [0, 0, 0, 0], "std": [1, 1, 1, 1]},
               {"file": "wind", "kind": "rows", "dims": [2], "mean": [0, 0], "std": [1, 1]}]})"));
  accepts([&] {
    const auto maker = kind->maker({});
    maker->load(bytes, "sample");
    std::vector<float> values(kind->floats());
    maker->make(digest_of(bytes), {}, values.data());
  });
}

}  // namespace

bool try_tar(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  const bool is_read = check_index(file, bytes.size());
  check_folders(file);
  check_tar_sample(bytes);
  return is_read;
}

}  // namespace moil::test
