#include "daemon/night/data/decoding.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/error.h"

namespace moil::night {
namespace {

constexpr std::size_t kHead = 64 << 10;        // of a file, where most headers end
constexpr std::size_t kUsualRoom = 256 << 20;  // more threads than fit into it wait

// Nothing is decoded of a sample that was forgotten meanwhile, or is damaged.
std::size_t need_of(const data::SampleDataset& samples, std::size_t index, const data::Kind& kind,
                    std::size_t most) {
  try {
    return decoding_bytes(samples, index, kind, most);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound && e.code() != ErrorCode::kBadData) throw;
    return 0;
  }
}

// If a file's head does not show it: the file, and what lies in it beside it.
std::size_t bytes_to_tell(const data::EncodedHead& head) { return 2 * head.size; }

std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

std::size_t decoding_bytes(const data::SampleDataset& samples, std::size_t index,
                           const data::Kind& kind, std::size_t most) {
  const data::EncodedHead head = samples.head(index, kHead);
  if (head.size > most) return head.size;
  auto bytes = kind.working_bytes(head.bytes, head.size);
  if (!bytes && head.bytes.size() < head.size)
    bytes = kind.working_bytes(samples.encoded(index), head.size);
  return bytes.value_or(bytes_to_tell(head));
}

DecodingNeeds decoding_needs(const Origins& origins, const data::Mix& mix, const data::Kind& kind,
                             int threads, std::size_t most_bytes) {
  std::vector<std::size_t> needs;
  for (const auto* part : {&mix.train, &mix.global_validation, &mix.local_validation}) {
    for (const data::MixedSample& s : *part) {
      const auto* files = files_of(origins, s.ref.source);
      if (files != nullptr) needs.push_back(need_of(*files, s.ref.index, kind, most_bytes));
    }
  }
  const std::size_t most = std::min(needs.size(), static_cast<std::size_t>(std::max(threads, 1)));
  std::partial_sort(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(most), needs.end(),
                    std::greater<>());
  DecodingNeeds found;
  if (most > 0) found.largest = needs[0];
  for (std::size_t i = 0; i < most; ++i) found.side_by_side += needs[i];
  const auto middle = needs.begin() + static_cast<std::ptrdiff_t>(needs.size() / 2);
  std::nth_element(needs.begin(), middle, needs.end());
  if (middle != needs.end()) found.usual = *middle;
  return found;
}

std::size_t choose_room(const DecodingNeeds& needs, std::optional<std::size_t> available) {
  const std::size_t wanted = std::max(needs.largest, std::min(needs.side_by_side, kUsualRoom));
  return std::max(needs.usual, std::min(wanted, available.value_or(wanted)));
}

void DecodingRoom::enter(std::size_t bytes, const data::SampleDataset& samples, std::size_t index) {
  if (bytes > bytes_) {
    throw Error(ErrorCode::kBadData, samples.name(index) + ": decoding it takes " +
                                         mebibytes(bytes) + "; memory.budget_bytes leaves " +
                                         mebibytes(bytes_) + " for samples");
  }
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return taken_ + bytes <= bytes_; });
  taken_ += bytes;
}

void DecodingRoom::leave(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
  }
  left_.notify_all();
}

namespace {

// A file whose head does not tell is read in the room, too.
std::size_t bytes_in(DecodingRoom& room, const data::SampleDataset& samples, std::size_t index,
                     const data::Kind& kind) {
  const data::EncodedHead head = samples.head(index, kHead);
  if (auto bytes = kind.working_bytes(head.bytes, head.size)) return *bytes;
  room.enter(bytes_to_tell(head), samples, index);
  const DecodingRoom::Place reading(room, bytes_to_tell(head));
  return decoding_bytes(samples, index, kind);
}

}  // namespace

void take_place(const data::Kind& kind, const data::SampleDataset& samples, std::size_t index,
                DecodingRoom* room, std::optional<DecodingRoom::Place>& place) {
  if (room == nullptr) return;
  const std::size_t bytes = bytes_in(*room, samples, index, kind);
  room->enter(bytes, samples, index);
  place.emplace(*room, bytes);
}

void load_sample(data::SampleMaker& maker, const data::Kind& kind,
                 const data::SampleDataset& samples, std::size_t index, DecodingRoom* room,
                 std::optional<DecodingRoom::Place>& place) {
  take_place(kind, samples, index, room, place);
  maker.load(samples.encoded(index), samples.name(index));
}

}  // namespace moil::night
