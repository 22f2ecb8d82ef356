#include "datasets/labels/media_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "datasets/labels/csv_line.h"

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

constexpr auto kHeic = "image/heic"sv, kAvif = "image/avif"sv, kMp4 = "video/mp4"sv;

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
    {"audio/mp4", "an M4A sound"},
    {"video/3gpp", "a 3GP video or voice memo"},
    {"audio/amr", "an AMR voice memo"},
    {"audio/aac", "an AAC sound"},
    {"audio/aiff", "an AIFF sound"},
    {"audio/x-caf", "a Core Audio sound"},
    {"audio/x-ms-wma", "a Windows Media sound or video"},
    {kText, "text"},
    {kUtf16, "text in UTF-16"},
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
    {kWav, 24, "wave\xf3\xac\xd3\x11"},
    {kWebp, 8, "WEBP"},
    {kOgg, 0, "OggS"},
    {kNpy, 0, "\x93NUMPY"},
    {kTar, 257, "ustar"},
    {kHeic, 4, "ftyphei"},
    {kHeic, 4, "ftyphev"},
    {kHeic, 4, "ftypmif1"},
    {kHeic, 4, "ftypmsf1"},
    {kAvif, 4, "ftypavi"},
    {"audio/mp4", 4, "ftypM4A"},
    {"audio/mp4", 4, "ftypM4B"},
    {"video/3gpp", 4, "ftyp3g"},
    {kMp4, 4, "ftyp"},
    {"audio/amr", 0, "#!AMR"},
    {"audio/aac", 0, "\xff\xf1"},
    {"audio/aac", 0, "\xff\xf9"},
    {"audio/aiff", 8, "AIFF"},
    {"audio/aiff", 8, "AIFC"},
    {"audio/x-caf", 0, "caff"},
    {"audio/x-ms-wma", 0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"},
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

// WAV and WebP have these. A WAV file of more than 4 GB is RF64 or BW64, or Sony's W64.
constexpr std::string_view kContainers[] = {"RIFF", "RF64", "BW64",
                                            "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb"};
constexpr std::size_t kLookedAt = 512;                      // to tell text
constexpr std::size_t kMostOfLines = std::size_t{1} << 18;  // to tell a table from other text

bool fits(const Signature& signature, std::string_view content) {
  if (content.size() < signature.at + signature.bytes.size()) return false;
  if (content.substr(signature.at, signature.bytes.size()) != signature.bytes) return false;
  const bool contained = signature.type == kWav || signature.type == kWebp;
  return !contained || std::ranges::any_of(kContainers, [&](std::string_view container) {
    return content.starts_with(container);
  });
}

// A BMP's two letters begin many a text, too.
bool reads_as_text(std::string_view content) {
  const auto head = content.substr(0, kLookedAt);
  return !head.empty() && std::ranges::all_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

// A line's fields. `cut`: what is known of the text ends in the line, maybe within its last field.
std::vector<std::string> fields_of_line(std::string_view line, bool cut) {
  std::vector<std::string> fields = fields_of(line, separator_of(line));
  if (cut && fields.size() > 1) fields.pop_back();
  return fields;
}

bool is_number(const std::string& field) {
  double value = 0;
  return to_number(field, value);
}

// Numbers, and some that are missing.
bool are_numbers(const std::vector<std::string>& fields) {
  return std::ranges::any_of(fields, is_number) &&
         std::ranges::all_of(fields, [](const auto& f) { return is_missing(f) || is_number(f); });
}

// Behind a line of so many names. There is one record of text alone, as a table's samples are.
bool is_record(const std::vector<std::string>& fields, std::size_t names, bool is_last) {
  if (are_numbers(fields)) return true;
  return fields.size() == names && names > 1 && (is_last || std::ranges::any_of(fields, is_number));
}

// A line of numbers, or a line of names with a record behind it.
bool is_csv(std::string_view content) {
  std::string_view rest = without_mark(content).substr(0, kMostOfLines), line;
  const bool cut = content.size() > kMostOfLines;
  const auto next = [&] {
    bool found = false;
    while ((found = next_line(rest, line)) && line.empty()) {
    }
    return found;
  };
  if (!next()) return false;
  const auto first = fields_of_line(line, cut && rest.empty());
  if (are_numbers(first)) return true;
  const bool is_one_word = first.size() == 1 || separator_of(line) == ' ';
  if (!are_names(first) || !next()) return false;
  const auto second = fields_of_line(line, cut && rest.empty());
  if (is_one_word) return second.size() == first.size() && are_numbers(second);
  return is_record(second, first.size(), !next());
}

}  // namespace

// Marked as such, or every other byte of its beginning is 0.
bool is_utf16(std::string_view content) {
  if (content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff")) return true;
  constexpr std::size_t kEnough = 4, kMost = 32;
  const auto head = content.substr(0, std::min(content.size(), kMost) / 2 * 2);
  if (head.size() < kEnough) return false;
  const std::size_t zeros_at = head[0] == 0 ? 0 : 1;
  std::string characters;
  for (std::size_t i = 0; i < head.size(); i += 2) {
    if (head[i + zeros_at] != 0) return false;
    characters += head[i + 1 - zeros_at];
  }
  return reads_as_text(characters);
}

std::string_view media_type_of(std::span<const std::uint8_t> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool text = reads_as_text(content);
  for (const Signature& signature : kSignatures) {
    if (text && signature.type == "image/bmp") continue;
    if (fits(signature, content)) return signature.type;
  }
  if (!text) return is_utf16(content) ? kUtf16 : kUnknownMedia;
  return is_csv(content) ? kCsv : kText;
}

bool is_image(std::string_view media_type) {
  return media_type == kJpeg || media_type == kPng || media_type == kWebp;
}

bool is_sound(std::string_view media_type) {
  return media_type == kWav || media_type == kOgg || media_type == kFlac || media_type == kMp3;
}

bool is_numbers(std::string_view media_type) { return media_type == kCsv || media_type == kNpy; }

bool is_text(std::string_view media_type) { return media_type == kText || media_type == kCsv; }

bool is_taken(std::string_view media_type) {
  return is_image(media_type) || is_sound(media_type) || is_numbers(media_type) ||
         media_type == kTar;
}

std::string_view media_ending(std::string_view media_type) {
  for (const auto& [type, ending] :
       {std::pair(kJpeg, ".jpg"sv), std::pair(kPng, ".png"sv), std::pair(kWebp, ".webp"sv),
        std::pair(kWav, ".wav"sv), std::pair(kOgg, ".ogg"sv), std::pair(kFlac, ".flac"sv),
        std::pair(kMp3, ".mp3"sv), std::pair(kNpy, ".npy"sv), std::pair(kCsv, ".csv"sv),
        std::pair(kTar, ".tar"sv), std::pair(kText, ".txt"sv)})
    if (type == media_type) return ending;
  return {};
}

std::string_view media_name(std::string_view media_type) {
  const auto known = std::ranges::find(kMedia, media_type, &Media::type);
  return known == std::end(kMedia) ? "of no known kind" : known->name;
}

std::string media_refusal(std::string_view media_type) {
  if (media_type == kUtf16) return "it is text in UTF-16; save it as UTF-8";
  return "it is " + std::string(media_name(media_type)) +
         ", which no model reads; JPEG, PNG and WebP photos, WAV, FLAC, Ogg and MP3 sounds, "
         "numbers as "
         "CSV or NPY, and tar archives of them are taken; text and other files if there is a model "
         "of tokens";
}

}  // namespace moil::data
