#include "daemon/night/maps/view_making.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "daemon/night/data/decoding.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

template <typename Read>
void read_sample(const data::MixedSample& sample, const Read& read) {
  try {
    read();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound || sample.is_global()) throw;
    throw SampleForgotten("a sample was forgotten during the night");
  }
}

// Views of one sample that follow each other, on average, so that one thread gets them together; no
// more than leave work for every thread.
int views_at_once(std::span<const SampleView> wanted) {
  std::size_t samples = 1;
  for (std::size_t i = 1; i < wanted.size(); ++i)
    samples += wanted[i].sample != wanted[i - 1].sample ? 1 : 0;
  const auto threads = static_cast<std::size_t>(thread_count());
  return static_cast<int>(std::max<std::size_t>(1, wanted.size() / std::max(samples, threads)));
}

// What a thread keeps between the views that it makes.
class ViewMaker {
 public:
  ViewMaker(const Origins& origins, const data::Kind& kind, bool may_flip)
      : origins_(origins), kind_(kind), maker_(kind.maker({may_flip})) {}

  // Views of one sample after each other decode it once.
  void make(const SampleView& wanted, float* out) {
    const data::MixedSample& s = *wanted.sample;
    if (decoded_ != &s) {
      release();
      read_sample(s, [&] {
        load_sample(*maker_, kind_, *files_of(origins_, s.ref.source), s.ref.index, origins_.room,
                    place_);
      });
      decoded_ = &s;
    }
    maker_->make(s.digest, {wanted.view, wanted.part}, out);
  }

 private:
  // Before room is asked for: who waits for it holds none.
  void release() {
    decoded_ = nullptr;
    if (!place_) return;
    maker_->release();
    place_.reset();
  }

  const Origins& origins_;
  std::optional<DecodingRoom::Place> place_;  // outlives what is decoded in it
  const data::Kind& kind_;
  const std::unique_ptr<data::SampleMaker> maker_;
  const data::MixedSample* decoded_ = nullptr;
};

}  // namespace

std::vector<std::string> make_views(const Origins& origins, const data::Kind& kind, bool may_flip,
                                    std::span<const SampleView> wanted, float* out) {
  const std::size_t floats = kind.floats();
  std::exception_ptr error;
  std::mutex mutex;
  std::vector<std::string> failures(wanted.size());
  const auto count = static_cast<std::int64_t>(wanted.size());
  const int at_once = views_at_once(wanted);
#pragma omp parallel
  {
    ViewMaker maker(origins, kind, may_flip);
    // Without a barrier, before which a thread that is done would keep its room.
#pragma omp for schedule(dynamic, at_once) nowait
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      try {
        maker.make(wanted[k], out + k * floats);
      } catch (const Error& e) {
        const std::lock_guard lock(mutex);
        if (e.code() == ErrorCode::kBadData) failures[k] = e.what();
        if (e.code() != ErrorCode::kBadData && !error) error = std::current_exception();
        std::fill_n(out + k * floats, floats, 0.0F);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
  return failures;
}

}  // namespace moil::night
