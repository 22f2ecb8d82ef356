#include "engine/tensor/swapper.h"

#include <algorithm>
#include <chrono>

#include "base/index.h"
#include "base/seconds.h"

namespace moil {
namespace {

// Long enough to reach the disk's speed, short enough that an urgent load need not wait long.
constexpr std::size_t kChunk = 1 << 20;

}  // namespace

Swapper::Swapper(const TensorPool& tensors, const std::vector<Stay>& stays,
                 const std::vector<std::size_t>& offsets, int last_order,
                 const std::vector<std::size_t>& file_offsets, const SwapFile& file,
                 const MemoryPool& memory)
    : file_(file), events_(at(last_order) + 1) {
  for (std::size_t s = 0; s < stays.size(); ++s) {
    const Stay& stay = stays[s];
    Transfer transfer;
    transfer.memory = memory.data(offsets[s]);
    transfer.file_offset = file_offsets[static_cast<std::size_t>(stay.owner)];
    transfer.bytes = swap_aligned(tensors.spec(stay.owner).info.bytes());
    const int number = static_cast<int>(transfers_.size());
    if (stay.loads) {
      transfer.loads = true;
      transfer.early = stay.loads_early;
      transfer.deadline = stay.first;
      events_[at(stay.from)].issued_before.push_back(number);
      events_[at(stay.first)].loaded_before.push_back(number);
      transfers_.push_back(transfer);
    }
    if (stay.stores) {
      const int stored = static_cast<int>(transfers_.size());
      transfer.loads = false;
      transfer.early = stay.stores_early;
      transfer.deadline = stay.until + 1;
      events_[at(stay.last)].issued_after.push_back(stored);
      // What ends with the iteration is drained.
      if (stay.until < last_order) events_[at(stay.until + 1)].stored_before.push_back(stored);
      transfers_.push_back(transfer);
    }
  }
  for (int i = 0; i < static_cast<int>(transfers_.size()); ++i) all_.push_back(i);
  thread_ = std::thread([this] { work(); });
}

Swapper::~Swapper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  handed_over_.notify_one();
  thread_.join();
}

void Swapper::free_order(int order) { wait(events_[at(order)].stored_before); }

void Swapper::begin_order(int order) {
  const OrderEvents& events = events_[at(order)];
  issue(events.issued_before);
  wait(events.loaded_before);
}

void Swapper::end_order(int order) { issue(events_[at(order)].issued_after); }

void Swapper::drain() { wait(all_); }

void Swapper::issue(std::span<const int> transfers) {
  if (transfers.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const int i : transfers) {
      if (!whole_ && !transfers_[at(i)].early) continue;
      transfers_[at(i)].moved = 0;
      transfers_[at(i)].open = true;
      ++open_;
    }
  }
  handed_over_.notify_one();
}

void Swapper::wait(std::span<const int> transfers) {
  if (transfers.empty()) return;
  std::unique_lock lock(mutex_);
  const auto done = [&] {
    return error_ || std::none_of(transfers.begin(), transfers.end(),
                                  [this](int i) { return transfers_[at(i)].open; });
  };
  if (!done()) {
    const auto start = std::chrono::steady_clock::now();
    ended_.wait(lock, done);
    statistics_.waited_seconds += seconds_since(start);
  }
  if (error_) std::rethrow_exception(error_);
}

SwapStatistics Swapper::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

// Loads come before stores of the same deadline. Called with the mutex held.
Swapper::Transfer* Swapper::most_urgent() {
  Transfer* best = nullptr;
  for (Transfer& t : transfers_) {
    if (!t.open) continue;
    if (best == nullptr || t.deadline < best->deadline ||
        (t.deadline == best->deadline && t.loads && !best->loads))
      best = &t;
  }
  return best;
}

void Swapper::move_chunk(const Transfer& t, std::size_t bytes) const {
  if (t.loads)
    file_.read(t.file_offset + t.moved, {t.memory + t.moved, bytes});
  else
    file_.write(t.file_offset + t.moved, {t.memory + t.moved, bytes});
}

void Swapper::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    handed_over_.wait(lock, [this] { return stop_ || (open_ > 0 && !error_); });
    if (stop_) return;
    Transfer& transfer = *most_urgent();
    const std::size_t bytes = std::min(kChunk, transfer.bytes - transfer.moved);
    const auto start = std::chrono::steady_clock::now();
    lock.unlock();
    std::exception_ptr error;
    try {
      move_chunk(transfer, bytes);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    statistics_.transfer_seconds += seconds_since(start);
    if (error) {
      error_ = error;
      ended_.notify_all();
      continue;
    }
    transfer.moved += bytes;
    (transfer.loads ? statistics_.read_bytes : statistics_.written_bytes) += bytes;
    if (transfer.moved < transfer.bytes) continue;
    transfer.open = false;
    --open_;
    ++statistics_.transfers;
    ended_.notify_all();
  }
}

}  // namespace moil
