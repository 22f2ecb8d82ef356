#include "engine/train/prefetcher.h"

#include <utility>

#include "engine/kernels/parallel.h"

namespace moil {

Prefetcher::Prefetcher(BatchSource& source, const BatchShape& shape, std::int64_t samples)
    : source_(source),
      threads_(thread_count()),
      buffers_{{shape, static_cast<std::size_t>(samples)},
               {shape, static_cast<std::size_t>(samples)}} {
  thread_ = std::thread([this] { work(); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::request(std::span<const std::int64_t> samples) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = samples;
    open_ = true;
  }
  changed_.notify_all();
}

const BatchBuffer& Prefetcher::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_; });
  ready_ = false;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  const BatchBuffer& full = buffers_[filling_];
  filling_ = 1 - filling_;
  return full;
}

void Prefetcher::work() {
  set_thread_count(threads_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || (open_ && !ready_); });
    if (stop_) return;
    open_ = false;
    const Batch& batch = buffers_[filling_].batch();
    const auto samples = wanted_;
    lock.unlock();
    std::exception_ptr error;
    try {
      source_.read(samples, batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    ready_ = true;
    changed_.notify_all();
  }
}

std::size_t Prefetcher::bytes() const { return buffers_[0].bytes() + buffers_[1].bytes(); }

}  // namespace moil
