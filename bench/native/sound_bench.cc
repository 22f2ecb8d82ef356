// Times what stands between a sound's file and a network: decoding, resampling, the front end.
//
//   sound_bench --preprocessing FILE [--runs 5] [--patches OUT] [--json] SOUND...
//
// One thread. Prints how many times as fast as the sounds play all of it is, as a night asks for
// patches (the median of the runs), and the seconds that decoding once at the network's rate and
// the front end alone take. --patches writes every patch as fp32, one sound after the other.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/version.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/sounds/sound_stream.h"

namespace moil::data {
namespace {

struct Options {
  std::string preprocessing, patches;
  std::vector<std::string> sounds;
  int runs = 5;
};

struct Sound {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

// Seconds of computing, the median: what else the machine does meanwhile does not count.
double timed(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<Sound> read_sounds(const std::vector<std::string>& names) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  std::vector<Sound> sounds;
  for (const std::string& name : names) sounds.push_back({name, read_file(name, kMostBytes)});
  return sounds;
}

// As a night does: how many parts there are, then one after the other.
using Take = std::function<void(const std::vector<float>& patch)>;
std::size_t make_patches(const Kind& kind, const std::vector<Sound>& sounds, const Take& take) {
  const auto maker = kind.maker({});
  std::vector<float> patch(kind.floats());
  std::size_t patches = 0;
  for (const Sound& sound : sounds) {
    const std::uint32_t parts = kind.parts(sound.bytes, sound.name);
    maker->load(sound.bytes, sound.name);
    for (std::uint32_t part = 0; part < parts; ++part) {
      maker->make({}, {0, part}, patch.data());
      if (take) take(patch);
    }
    patches += parts;
  }
  return patches;
}

std::vector<float> decoded(const Sound& sound, int rate) {
  SoundStream stream(sound.bytes, sound.name, rate);
  std::vector<float> samples(static_cast<std::size_t>(stream.samples()));
  stream.read(samples);
  return samples;
}

// Once, without counting first how many samples there are.
double decoding_seconds(int rate, const std::vector<Sound>& sounds, int runs) {
  std::vector<std::vector<float>> samples;
  for (const Sound& sound : sounds) samples.push_back(decoded(sound, rate));
  return timed(runs, [&] {
    for (std::size_t i = 0; i < sounds.size(); ++i)
      SoundStream(sounds[i].bytes, sounds[i].name, rate).read(samples[i]);
  });
}

double front_end_seconds(const FrontEndDescription& d, const std::vector<Sound>& sounds, int runs) {
  const FrontEnd front_end(d);
  FrontEnd::Memory memory(front_end);
  std::vector<std::vector<float>> samples;
  for (const Sound& sound : sounds) {
    samples.push_back(decoded(sound, d.rate));
    const auto patches = d.patches(static_cast<std::int64_t>(samples.back().size()));
    samples.back().resize(
        static_cast<std::size_t>((patches - 1) * d.patch_hop * d.hop + d.patch_samples()));
  }
  std::vector<float> patch(front_end.floats());
  const auto step = static_cast<std::size_t>(d.patch_hop) * static_cast<std::size_t>(d.hop);
  const auto size = static_cast<std::size_t>(d.patch_samples());
  return timed(runs, [&] {
    for (const std::vector<float>& some : samples)
      for (std::size_t at = 0; at + size <= some.size(); at += step)
        front_end.patch(std::span(some).subspan(at, size), memory, patch.data());
  });
}

nlohmann::json run(const Options& options) {
  const nlohmann::json description = parsed_json(read_text(options.preprocessing));
  const KindPtr kind = kind_from_json(description);
  if (kind->name() != "sound")
    throw Error(ErrorCode::kInvalidArgument, options.preprocessing + " describes no sound");
  const FrontEndDescription front_end = front_end_from_json(description.at("front_end"));
  const std::vector<Sound> sounds = read_sounds(options.sounds);
  if (!options.patches.empty()) {
    std::ofstream out(options.patches, std::ios::binary);
    make_patches(*kind, sounds, [&](const std::vector<float>& patch) {
      out.write(reinterpret_cast<const char*>(patch.data()),
                static_cast<std::streamsize>(patch.size() * sizeof(float)));
    });
    if (!out.flush()) throw Error(ErrorCode::kIo, "cannot write " + options.patches);
  }
  double plays = 0;
  for (const Sound& sound : sounds)
    plays += static_cast<double>(decoded(sound, front_end.rate).size()) / front_end.rate;
  std::size_t patches = 0;
  const double all = timed(options.runs, [&] { patches = make_patches(*kind, sounds, nullptr); });
  const double decoding = decoding_seconds(front_end.rate, sounds, options.runs);
  return {{"sounds", sounds.size()},
          {"plays_seconds", plays},
          {"patches", patches},
          {"seconds", all},
          {"decoding_seconds", decoding},
          {"front_end_seconds", front_end_seconds(front_end, sounds, options.runs)},
          {"realtime_factor", plays / all}};
}

}  // namespace
}  // namespace moil::data

int main(int argc, char** argv) {
  moil::data::Options options;
  bool json = false;
  moil::cli::Program app("From a sound's file to a network's input, timed", "sound_bench",
                         moil::kVersion);
  app.add_option("--preprocessing", options.preprocessing, "JSON: a kind \"sound\"").required();
  app.add_option("--patches", options.patches, "also write the patches to this file");
  app.add_option("--runs", options.runs).check(moil::cli::positive());
  app.add_option("sounds", options.sounds, "files").required();
  app.add_flag("--json", json, "print one JSON object");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    const nlohmann::json result = moil::data::run(options);
    if (json) {
      std::printf("%s\n", result.dump().c_str());
    } else {
      std::printf("%.0f times as fast as the sounds play, %zu patches of %.1f s of sound\n",
                  result["realtime_factor"].get<double>(), result["patches"].get<std::size_t>(),
                  result["plays_seconds"].get<double>());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sound_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
