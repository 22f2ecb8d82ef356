// A sound file as libsndfile decodes it, of the formats that are looked after, from its beginning
// to its end, one of its streams after the other (sound_streams.h). For the files of this folder:
// others see a SoundFile.
//
// libsndfile crashes if it seeks in some FLAC files that are cut off, so nobody seeks: who wants
// to go back opens the file anew.
//
// One thread at a time.
#pragma once

#include <sndfile.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

class SoundDecoder {
 public:
  // `bytes` outlive it. kBadData, beginning with `name`, for what is no such file, one of an
  // unheard-of rate or number of channels, or one whose streams differ in them.
  SoundDecoder(const SoundBytes& bytes, std::string_view name);

  // The next frames, of all channels; fewer than asked for at the end or at damage alone.
  sf_count_t read(float* out, sf_count_t frames);
  sf_count_t read(int* out, sf_count_t frames);
  sf_count_t read(double* out, sf_count_t frames);

  [[nodiscard]] int rate() const { return info_.samplerate; }
  [[nodiscard]] int channels() const { return info_.channels; }
  // The file's SF_FORMAT_..., and how its samples are coded.
  [[nodiscard]] int container() const { return info_.format & SF_FORMAT_TYPEMASK; }
  [[nodiscard]] int coding() const { return info_.format & SF_FORMAT_SUBMASK; }
  [[nodiscard]] bool is_wav() const;
  [[nodiscard]] bool is_ogg() const { return container() == SF_FORMAT_OGG; }
  // As the heads tell it, which may be more than a file that is cut off holds, or less; of FLAC 0
  // if it is open.
  [[nodiscard]] std::int64_t told_frames() const { return told_frames_; }
  // Whether the first of its channels is the sound from all around (ambisonic B-format, WXYZ).
  [[nodiscard]] bool is_ambisonic() const;
  [[nodiscard]] bool is_damaged() const { return ::sf_error(file_.get()) != SF_ERR_NO_ERROR; }

 private:
  struct Place {
    const SoundBytes& bytes;
    std::int64_t at = 0;
  };
  struct Close {
    void operator()(SNDFILE* file) const { ::sf_close(file); }
  };
  static SF_VIRTUAL_IO reading();
  template <class Sample>
  sf_count_t read_on(sf_count_t (*from)(SNDFILE*, Sample*, sf_count_t), Sample* out,
                     sf_count_t frames);
  void open(std::size_t stream);
  void check_info() const;
  void look_through();
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::vector<std::unique_ptr<SoundBytes>> streams_;
  std::size_t stream_ = 0;  // that is open
  std::int64_t told_frames_ = 0;
  std::unique_ptr<Place> place_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, Close> file_;
};

}  // namespace moil::data
