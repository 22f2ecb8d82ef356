// What a kind promises that a sample takes is at least what it takes, of every medium of every
// kind: a night makes room for the promise and for nothing else.
#include <functional>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/kinds/kind.h"
#include "tests/datasets/images/memory_growth.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"
#include "tests/plain_build.h"

namespace moil::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Medium {
  std::string name;
  Json kind;
  std::function<Bytes()> file;
  bool is_read = true;  // else it is refused, in no more memory
};

Bytes of_text(const std::string& text) { return {text.begin(), text.end()}; }

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes + text.size());
  while (all.size() < bytes) all += text;
  return all;
}

constexpr std::size_t kNumbers = 5'000'000;  // of the largest samples

Json rows(std::int64_t lines, std::int64_t columns) {
  return {{"kind", "rows"}, {"dims", {1, lines, columns}}, {"mean", {0}}, {"std", {1}}};
}

Json windows(std::int64_t lines) {
  return {{"kind", "rows"}, {"dims", {lines, 1}}, {"mean", {0}}, {"std", {1}}, {"hop", lines}};
}

std::string npy_header(const std::string& type, std::size_t count) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                     std::to_string(count) + ",), }\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size());
  return file + '\0' + text;
}

// Zeros, as many as the model takes.
Medium npy(const std::string& type, std::size_t bytes, const std::string& what, const Json& kind,
           std::size_t count) {
  return {"npy " + type + what, kind, [=] {
            Bytes file = of_text(npy_header(type, count));
            file.resize(file.size() + count * bytes);
            return file;
          }};
}

std::vector<Medium> numbers() {
  std::vector<Medium> all;
  const auto lines = static_cast<std::int64_t>(kNumbers);
  const auto text = [](const std::string& some, std::size_t bytes) {
    return [=] { return of_text(repeated(some, bytes)); };
  };
  const std::size_t half = kNumbers * 2;
  all.push_back({"csv of one line", rows(1, lines), [=] {
                   Bytes file = of_text(repeated("1,", half));
                   file.pop_back();
                   return file;
                 }});
  all.push_back({"csv of short lines", rows(lines, 1), text("1\n", half)});
  all.push_back(
      {"csv of long numbers", rows(500'000, 1), text("-1.2345678901234567e-101\n", 12'500'000)});
  all.push_back({"csv of padded numbers", rows(1'000'000, 1), text("    1    \n", 10'000'000)});
  all.push_back({"csv in windows", windows(1000), text("1\n", half)});
  all.push_back({"csv of one line that no model takes", rows(2, 2), text("1,", 40 << 20), false});
  all.push_back({"csv of one field", rows(2, 2), text("1", 40 << 20), false});
  all.push_back({"csv of one quoted field", rows(2, 2),
                 [] { return of_text("1,\"" + repeated("\"\"", 40 << 20)); }, false});
  all.push_back({"csv that is no number at its end", rows(1, lines), text("1,", half), false});
  const std::pair<const char*, std::size_t> types[] = {
      {"<f2", 2}, {"<f4", 4}, {"<f8", 8}, {"|u1", 1}, {"|i1", 1}, {"|b1", 1},
      {"<u2", 2}, {"<i2", 2}, {"<u4", 4}, {"<i4", 4}, {"<u8", 8}, {"<i8", 8}};
  constexpr std::size_t kSome = 1'000'000;
  for (const auto& [type, bytes] : types) {
    all.push_back(npy(type, bytes, "", rows(1, static_cast<std::int64_t>(kSome)), kSome));
    all.push_back(npy(type, bytes, " in windows", windows(100), kSome));
    all.push_back(npy(type, bytes, " that no model takes", rows(2, 2), kSome));
    all.back().is_read = false;
  }
  all.push_back({"npy of a type that is not taken", rows(2, 2),
                 [] {
                   Bytes file = of_text(npy_header("<c8", kSome));
                   file.resize(file.size() + kSome * 8);
                   return file;
                 },
                 false});
  return all;
}

Image photo() { return test::gradient(3000, 2000, 3); }

Json photos() { return test::rgb_images(224)->to_json(); }

std::vector<Medium> images() {
  return {{"jpeg", photos(), [] { return encode_jpeg(photo(), 85); }},
          {"png", photos(), [] { return encode_png(photo()); }},
          {"webp lossless", photos(), [] { return test::encode_webp(photo(), true); }},
          {"webp lossy", photos(), [] { return test::encode_webp(photo(), false); }},
          {"jpeg cut off", photos(),
           [] {
             Bytes file = encode_jpeg(photo(), 85);
             file.resize(file.size() / 2);
             return file;
           },
           false}};
}

std::vector<Medium> sounds() {
  const char* const names[] = {"wav 16", "wav 24", "wav float", "flac", "vorbis", "opus", "mp3"};
  const Json plain = {{"kind", "sound"}, {"front_end", {{"type", "log_mel"}}}};
  // As much of everything as a front end may have that a test can wait for.
  const Json large = {{"kind", "sound"},
                      {"front_end",
                       {{"type", "log_mel_deltas"},
                        {"window", 65536},
                        {"hop", 8192},
                        {"fft", 65536},
                        {"bands", 256},
                        {"frames", 64},
                        {"patch_hop", 32}}}};
  std::vector<Medium> all;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto encoded = [format = test::kSoundFormats[i]](int channels, double seconds) {
      return [=] {
        return test::encode_sound(format, 48000, channels,
                                  test::tone(48000, 440, seconds, channels));
      };
    };
    all.push_back({names[i], plain, encoded(2, 20)});
    all.push_back({std::string(names[i]) + " of another front end", large, encoded(1, 10)});
  }
  all.push_back({"flac of many channels", plain, [] {
                   return test::encode_sound(test::SoundFormat::kFlac, 16000, 8,
                                             test::tone(16000, 440, 10, 8));
                 }});
  return all;
}

std::vector<Medium> several() {
  Json photo_input = photos(), rows_input = rows(1, 4'000'000);
  photo_input["file"] = "photo";
  rows_input["file"] = "numbers";
  const Json both = {{"kind", "several"}, {"inputs", {photo_input, rows_input}}};
  const auto numbers_file = [] {
    Bytes file = of_text(npy_header("|u1", 4'000'000));
    file.resize(file.size() + 4'000'000);
    return file;
  };
  return {{"tar of a photo and numbers", both,
           [=] {
             return test::tar_of(
                 {{"photo.jpg", encode_jpeg(photo(), 85)}, {"numbers.npy", numbers_file()}});
           }},
          {"tar with more than is taken", both,
           [=] {
             return test::tar_of({{"other.bin", Bytes(30 << 20)},
                                  {"photo.png", encode_png(photo())},
                                  {"numbers.npy", numbers_file()}});
           }},
          {"tar without the photo", both,
           [=] {
             return test::tar_of({{"other.bin", Bytes(30 << 20)}, {"numbers.npy", numbers_file()}});
           },
           false}};
}

std::vector<Medium> tokens() {
  const Json bytes = {{"kind", "tokens"}, {"length", 96}};
  Json characters = bytes, ends = bytes;
  characters["vocabulary"] = {"a", "é"};
  ends["take"] = "ends";
  const auto text = [](const std::string& some) {
    return [=] { return of_text(repeated(some, 10'000'000)); };
  };
  return {{"text as bytes", bytes, text("a line of text\n")},
          {"text as characters", characters, text("a")},
          {"text of other characters", characters, text("日é")},
          {"bytes that are no text", characters, text("\xff")},
          {"a file by its ends", ends,
           text("\x7f"
                "ELF\n")}};
}

// By the file's first bytes, or, if these do not show it, by all of it.
std::size_t promised(const Kind& kind, const Bytes& file) {
  const auto head = std::span(file).first(std::min<std::size_t>(file.size(), 64 << 10));
  auto bytes = kind.working_bytes(head, file.size());
  if (!bytes) bytes = kind.working_bytes(file, file.size());
  return bytes.value_or(2 * file.size());
}

// As a night does with it; false if it is refused.
bool read_whole(const Kind& kind, SampleMaker& maker, const Bytes& file, std::vector<float>& out) {
  try {
    maker.load(file, "sample");
    const std::uint32_t parts = kind.has_parts() ? kind.parts(file, "sample") : 1;
    (void)kind.signal(file, "sample");
    for (std::uint32_t part = 0; part < std::min(parts, 4U); ++part)
      for (const std::uint16_t view : {0, 1})
        maker.make({}, {kind.has_views() ? view : std::uint16_t{0}, part}, out.data());
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("sample")) << error.what();
    return false;
  }
}

void expect_kept(const Medium& medium) {
  const KindPtr kind = kind_from_json(medium.kind);
  const Bytes file = medium.file();
  std::vector<float> out(kind->floats());
  bool is_read = false;
  const auto read = [&] {
    const auto maker = kind->maker({});
    is_read = read_whole(*kind, *maker, file, out);
  };
  read();  // so that the libraries' own pages are there
  const std::size_t taken = file.size() + growth(read), room = promised(*kind, file);
  EXPECT_EQ(is_read, medium.is_read);
  EXPECT_LE(taken, room + kMiB / 2) << "pages are counted whole";
}

class WorkingBytes : public ::testing::TestWithParam<std::vector<Medium> (*)()> {};

TEST_P(WorkingBytes, NoMediumTakesMoreThanItsKindPromises) {
  MOIL_NEEDS_TRUE_MEMORY();
  return_freed_memory();
  for (const Medium& medium : GetParam()()) {
    SCOPED_TRACE(medium.name);
    expect_kept(medium);
  }
}

std::string kind_of(const ::testing::TestParamInfo<std::vector<Medium> (*)()>& tested) {
  return tested.param()[0].kind["kind"];
}

INSTANTIATE_TEST_SUITE_P(Every, WorkingBytes,
                         ::testing::Values(&images, &numbers, &sounds, &several, &tokens), kind_of);

}  // namespace
}  // namespace moil::data
