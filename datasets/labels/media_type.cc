#include "datasets/labels/media_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace moil::data {
namespace {

struct Media {
  std::string_view type, name;
};

struct Signature {
  std::string_view type;
  std::size_t at;  // bytes from the beginning
  std::string_view bytes;
};

using namespace std::string_view_literals;

constexpr auto kHeic = "image/heic"sv, kAvif = "image/avif"sv, kMp4 = "video/mp4"sv,
               kText = "text/plain"sv;

constexpr Media kMedia[] = {
    {kJpeg, "a JPEG photo"},
    {kPng, "a PNG picture"},
    {kWebp, "a WebP picture"},
    {kWav, "a WAV sound"},
    {kOgg, "an Ogg sound"},
    {kFlac, "a FLAC sound"},
    {kMp3, "an MP3 sound"},
    {kHeic, "a HEIC photo"},
    {kAvif, "an AVIF picture"},
    {kMp4, "a video"},
    {kText, "text"},
    {kCsv, "numbers as CSV"},
    {kNpy, "numbers as NPY"},
    {kTar, "a tar archive"},
    {"image/bmp", "a BMP picture"},
    {"image/gif", "a GIF picture"},
    {"image/tiff", "a TIFF picture or a camera's raw photo"},
    {"image/jxl", "a JPEG XL picture"},
    {"image/vnd.adobe.photoshop", "a Photoshop file"},
    {"application/pdf", "a PDF document"},
    {"application/zip", "a ZIP archive or an office document"},
    {"application/gzip", "a gzip archive"},
    {"application/x-ds-store", "a folder's settings (.DS_Store)"},
    {"application/x-executable", "a program"},
    {"application/vnd.sqlite3", "a database"},
};

// The first that fits counts.
constexpr Signature kSignatures[] = {
    {kJpeg, 0, "\xff\xd8\xff"},
    {kPng, 0, "\x89PNG\r\n\x1a\n"},
    {kWav, 8, "WAVE"},
    {kWebp, 8, "WEBP"},
    {kOgg, 0, "OggS"},
    {kNpy, 0, "\x93NUMPY"},
    {kTar, 257, "ustar"},
    {kHeic, 4, "ftyphei"},
    {kHeic, 4, "ftyphev"},
    {kHeic, 4, "ftypmif1"},
    {kHeic, 4, "ftypmsf1"},
    {kAvif, 4, "ftypavi"},
    {kMp4, 4, "ftyp"},
    {kMp4, 0, "\x1a\x45\xdf\xa3"},
    {"image/bmp", 0, "BM"},
    {"image/gif", 0, "GIF8"},
    {"image/tiff", 0, "II*\0"sv},
    {"image/tiff", 0, "MM\0*"sv},
    {"image/jxl", 0, "\xff\x0a"},
    {"image/jxl", 4, "JXL "},
    {"image/vnd.adobe.photoshop", 0, "8BPS"},
    {kMp3, 0, "ID3"},
    {kMp3, 0, "\xff\xfb"},
    {kMp3, 0, "\xff\xfa"},
    {kMp3, 0, "\xff\xf3"},
    {kMp3, 0, "\xff\xf2"},
    {kMp3, 0, "\xff\xe3"},
    {kMp3, 0, "\xff\xe2"},
    {kFlac, 0, "fLaC"},
    {"application/pdf", 0, "%PDF"},
    {"application/zip", 0, "PK\x03\x04"},
    {"application/gzip", 0, "\x1f\x8b"},
    {"application/x-ds-store", 4, "Bud1"},
    {"application/x-executable", 0,
     "\x7f"
     "ELF"},
    {"application/vnd.sqlite3", 0, "SQLite format 3\0"sv},
};

constexpr std::string_view kContainer = "RIFF";  // of WAV and WebP
constexpr std::size_t kLookedAt = 512;           // to tell text

bool fits(const Signature& signature, std::string_view content) {
  if (content.size() < signature.at + signature.bytes.size()) return false;
  if (content.substr(signature.at, signature.bytes.size()) != signature.bytes) return false;
  const bool contained = signature.type == kWav || signature.type == kWebp;
  return !contained || content.starts_with(kContainer);
}

// A BMP's two letters begin many a text, too.
bool is_text(std::string_view content) {
  const auto head = content.substr(0, kLookedAt);
  return !head.empty() && std::ranges::all_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

bool is_number(std::string_view field) {
  while (field.starts_with(' ')) field.remove_prefix(1);
  while (field.ends_with(' ') || field.ends_with('\r')) field.remove_suffix(1);
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return !field.empty() && error == std::errc() && end == field.data() + field.size();
}

// `cut`: the line goes on behind what is known of it, so that its last field may be half a one.
bool is_line_of_numbers(std::string_view line, bool cut) {
  std::size_t numbers = 0;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(",;\t ", begin), line.size());
    const std::string_view field = line.substr(begin, end - begin);
    begin = end + 1;
    if (cut && end == line.size()) break;
    if (field.empty() || field == "\r") continue;  // behind a last separator, between two spaces
    if (!is_number(field)) return false;
    ++numbers;
  }
  return numbers > 0;
}

// The first line, or the one behind a line of names.
bool is_csv(std::string_view content) {
  const auto head = content.substr(0, kLookedAt);
  const auto first = head.substr(0, head.find('\n'));
  if (is_line_of_numbers(first, first.size() == kLookedAt)) return true;
  if (first.size() == head.size() || first.find_first_of(",;\t") == std::string_view::npos)
    return false;
  const auto rest = head.substr(first.size() + 1);
  const auto second = rest.substr(0, rest.find('\n'));
  return is_line_of_numbers(second, second.size() == rest.size() && content.size() > head.size());
}

}  // namespace

std::string_view media_type_of(std::span<const std::uint8_t> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool text = is_text(content);
  for (const Signature& signature : kSignatures) {
    if (text && signature.type == "image/bmp") continue;
    if (fits(signature, content)) return signature.type;
  }
  if (!text) return kUnknownMedia;
  return is_csv(content) ? kCsv : kText;
}

bool is_image(std::string_view media_type) {
  return media_type == kJpeg || media_type == kPng || media_type == kWebp;
}

bool is_sound(std::string_view media_type) {
  return media_type == kWav || media_type == kOgg || media_type == kFlac || media_type == kMp3;
}

bool is_numbers(std::string_view media_type) { return media_type == kCsv || media_type == kNpy; }

bool is_taken(std::string_view media_type) {
  return is_image(media_type) || is_sound(media_type) || is_numbers(media_type) ||
         media_type == kTar;
}

std::string_view media_ending(std::string_view media_type) {
  for (const auto& [type, ending] :
       {std::pair(kJpeg, ".jpg"sv), std::pair(kPng, ".png"sv), std::pair(kWebp, ".webp"sv),
        std::pair(kWav, ".wav"sv), std::pair(kOgg, ".ogg"sv), std::pair(kFlac, ".flac"sv),
        std::pair(kMp3, ".mp3"sv), std::pair(kNpy, ".npy"sv), std::pair(kCsv, ".csv"sv),
        std::pair(kTar, ".tar"sv)})
    if (type == media_type) return ending;
  return {};
}

std::string_view media_name(std::string_view media_type) {
  const auto known = std::ranges::find(kMedia, media_type, &Media::type);
  return known == std::end(kMedia) ? "of no known kind" : known->name;
}

std::string media_refusal(std::string_view media_type) {
  return "it is " + std::string(media_name(media_type)) +
         ", which no model reads; JPEG, PNG and WebP photos, WAV, FLAC, Ogg and MP3 sounds, "
         "numbers as "
         "CSV or NPY, and tar archives of them are taken";
}

}  // namespace moil::data
