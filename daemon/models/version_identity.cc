#include "daemon/models/version_identity.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "datasets/labels/denial.h"

namespace moil::night {
namespace {

using data::MixedSample;
using data::Source;

void add_lines(std::vector<std::string>& lines, const std::vector<MixedSample>& samples,
               const data::Mix& mix) {
  for (const MixedSample& s : samples) {
    std::vector<std::string> names;
    for (const data::ClassId label : s.labels) names.push_back(mix.classes.at(label));
    for (const data::ClassId label : s.denied)
      names.push_back(data::denial_of(mix.classes.at(label)));
    std::ranges::sort(names);
    std::string line = s.digest.hex();
    for (const std::string& name : names) line += "\t" + name;
    lines.push_back(line + "\n");
  }
}

std::string digest_of(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  Hasher hasher;
  for (const std::string& line : lines) hasher.add(line.data(), line.size());
  return to_hex(hasher.hash128());
}

std::vector<MixedSample> trained_of(const data::Mix& mix, Source source) {
  std::vector<MixedSample> samples;
  std::ranges::copy_if(mix.train, std::back_inserter(samples),
                       [&](const MixedSample& s) { return s.ref.source == source; });
  return samples;
}

nlohmann::json side(const data::Mix& mix, Source source, const std::vector<MixedSample>& held_out) {
  const auto trained = trained_of(mix, source);
  std::vector<std::string> lines;
  add_lines(lines, trained, mix);
  add_lines(lines, held_out, mix);
  return {{"samples", trained.size()},
          {"held_out", held_out.size()},
          {"digest", digest_of(std::move(lines))}};
}

}  // namespace

nlohmann::json data_identity(const data::Mix& mix) {
  std::vector<std::string> held_out;
  add_lines(held_out, mix.global_validation, mix);
  add_lines(held_out, mix.local_validation, mix);
  return {{"local", side(mix, Source::kLocal, mix.local_validation)},
          {"global", side(mix, Source::kGlobal, mix.global_validation)},
          {"held_out", digest_of(std::move(held_out))}};
}

std::string weights_identity(const std::filesystem::path& folder) {
  const auto file = folder / "weights.safetensors";
  std::ifstream in(file, std::ios::binary);
  Hasher hasher;
  std::vector<char> piece(std::size_t{1} << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    hasher.add(piece.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) throw Error(ErrorCode::kIo, "cannot read " + file.string());
  return to_hex(hasher.hash128());
}

std::optional<std::string> withdrawn_before(const daemon::JobFile& job,
                                            const std::string& weights) {
  for (const daemon::WithdrawnWeights& before : job.withdrawn) {
    if (before.weights != weights) continue;
    const std::string version = std::to_string(before.version);
    return "the night came to version " + version +
           " again, which was rolled back from; label more or correct what is wrong, or put "
           "version " +
           version + " in service after all (model.activate)";
  }
  return std::nullopt;
}

}  // namespace moil::night
