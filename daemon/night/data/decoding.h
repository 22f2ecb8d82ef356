// What decoding samples takes: counted before anything runs, and bounded while it does.
//
// Photos are decoded by several threads, each as large as its file says. What all of them take
// together is held within a room, which the memory forecast counts: a thread waits until there is
// room for its sample. So neither a large sample nor many at once take a night over its budget, and
// what is decoded does not depend on the room.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>

#include "daemon/night/data/origins.h"
#include "datasets/kinds/kind.h"
#include "datasets/samples/dataset.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// One sample's file, and what its kind takes to decode it and to make it what the network takes.
// By the file's header if that tells; the size of a file that is larger than `most` by itself. If
// nothing can be decoded, what it takes to tell.
[[nodiscard]] std::size_t decoding_bytes(const data::SampleDataset& samples, std::size_t index,
                                         const data::Kind& kind, std::size_t most = kNoLimit);

struct DecodingNeeds {
  std::size_t largest = 0;       // of one sample
  std::size_t side_by_side = 0;  // of the largest samples, one for each thread
  std::size_t usual = 0;         // half of all samples need no more
};
// What all decoded samples of a mix need; those of a pack of feature maps are not decoded. most:
// there is never more.
[[nodiscard]] DecodingNeeds decoding_needs(const Origins& origins, const data::Mix& mix,
                                           const data::Kind& kind, int threads,
                                           std::size_t most = kNoLimit);

// The room that a night gives to decoding: for a sample each thread, if that is not too much;
// for the largest sample alone if it is. No more than is available, if that is limited: what
// does not fit then is left out. But never less than the usual sample needs, for a night that
// leaves out most of them is of no use: if that is not available, the job is refused.
[[nodiscard]] std::size_t choose_room(const DecodingNeeds& needs,
                                      std::optional<std::size_t> available);

// From any thread.
class DecodingRoom {
 public:
  explicit DecodingRoom(std::size_t bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Gives the room back at its end.
  class Place {
   public:
    Place(DecodingRoom& room, std::size_t bytes) : room_(room), bytes_(bytes) {}
    ~Place() { room_.leave(bytes_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    DecodingRoom& room_;
    std::size_t bytes_;
  };

  // Waits until so much is free; to be given back before more is asked for. kBadData, naming the
  // sample and both numbers, if it never will be.
  void enter(std::size_t bytes, const data::SampleDataset& samples, std::size_t index);
  void leave(std::size_t bytes);

 private:
  std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::size_t taken_ = 0;
};

// Takes a place in the room for a sample, which is kept until `place` ends; room null: none. Throws
// what enter() and the dataset throw.
void take_place(const data::Kind& kind, const data::SampleDataset& samples, std::size_t index,
                DecodingRoom* room, std::optional<DecodingRoom::Place>& place);

// Loads a sample into the maker, in a place in the room that is kept until `place` ends; room null:
// in none. Throws what enter(), the dataset and the maker throw.
void load_sample(data::SampleMaker& maker, const data::Kind& kind,
                 const data::SampleDataset& samples, std::size_t index, DecodingRoom* room,
                 std::optional<DecodingRoom::Place>& place);

}  // namespace moil::night
