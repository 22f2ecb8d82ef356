#include "engine/train/prefetcher.h"

#include <utility>

#include "engine/kernels/parallel.h"

namespace moil {

Prefetcher::Prefetcher(BatchSource& source, std::int64_t batch, std::int64_t input_elements,
                       std::int64_t target_elements)
    : source_(source), threads_(thread_count()) {
  for (Buffer& b : buffers_) {
    b.inputs.resize(static_cast<std::size_t>(batch * input_elements));
    b.targets.resize(static_cast<std::size_t>(batch * target_elements));
  }
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

Prefetcher::Batch Prefetcher::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_; });
  ready_ = false;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  const Buffer& full = buffers_[filling_];
  filling_ = 1 - filling_;
  return {full.inputs.data(), full.targets.data()};
}

void Prefetcher::work() {
  set_thread_count(threads_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || (open_ && !ready_); });
    if (stop_) return;
    open_ = false;
    Buffer& buffer = buffers_[filling_];
    const auto samples = wanted_;
    lock.unlock();
    std::exception_ptr error;
    try {
      source_.read(samples, buffer.inputs.data(), buffer.targets.data());
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    ready_ = true;
    changed_.notify_all();
  }
}

std::size_t Prefetcher::bytes() const {
  return 2 * (buffers_[0].inputs.size() + buffers_[0].targets.size()) * sizeof(float);
}

}  // namespace moil
