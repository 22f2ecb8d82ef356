// Reads the next batch while the present one trains: one thread, two buffers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/train/batch_source.h"

namespace moil {

// Batches come in the order in which request() asked for them; at most one request is open beside
// the batch in hand. One consumer thread. Errors of the source are rethrown by take().
class Prefetcher {
 public:
  // samples: of a batch.
  Prefetcher(BatchSource& source, const BatchShape& shape, std::int64_t samples);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // `samples` must stay valid until the matching take() returns.
  void request(std::span<const std::int64_t> samples);
  // Waits for the oldest open request. The batch stays valid until the next take().
  const BatchBuffer& take();

  std::size_t bytes() const;  // of both buffers

 private:
  void work();

  BatchSource& source_;
  int threads_;  // of the consumer's loops, and so of the source's
  BatchBuffer buffers_[2];
  std::mutex mutex_;
  std::condition_variable changed_;
  std::span<const std::int64_t> wanted_;
  bool open_ = false, ready_ = false, stop_ = false;
  int filling_ = 0;  // which buffer the thread writes
  std::exception_ptr error_;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace moil
