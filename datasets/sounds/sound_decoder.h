// A sound file as libsndfile decodes it, of the formats that are looked after, from its beginning
// on. For the files of this folder: others see a SoundFile.
//
// libsndfile crashes where it seeks in some FLAC files that are cut off, so nobody seeks: who wants
// to go back opens the file anew.
//
// One thread at a time.
#pragma once

#include <sndfile.h>

#include <memory>
#include <string_view>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

class SoundDecoder {
 public:
  // `bytes` outlive it. kBadData, beginning with `name`, for what is no such file, or one of an
  // unheard-of rate or number of channels.
  SoundDecoder(const SoundBytes& bytes, std::string_view name);

  [[nodiscard]] int rate() const { return info_.samplerate; }
  [[nodiscard]] int channels() const { return info_.channels; }
  // Of SF_FORMAT_...: the file's, and how its samples are coded.
  [[nodiscard]] int container() const { return info_.format & SF_FORMAT_TYPEMASK; }
  [[nodiscard]] int coding() const { return info_.format & SF_FORMAT_SUBMASK; }
  [[nodiscard]] bool is_wav() const;
  [[nodiscard]] bool is_ogg() const { return container() == SF_FORMAT_OGG; }
  // As the head tells it, which may be more than a file that is cut off holds.
  [[nodiscard]] std::int64_t told_frames() const { return info_.frames; }
  [[nodiscard]] SNDFILE* file() const { return file_.get(); }

 private:
  struct Place {
    const SoundBytes& bytes;
    std::int64_t at = 0;
  };
  struct Close {
    void operator()(SNDFILE* file) const { ::sf_close(file); }
  };
  static SF_VIRTUAL_IO reading();

  std::unique_ptr<Place> place_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, Close> file_;
};

}  // namespace moil::data
