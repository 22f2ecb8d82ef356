// Moves tensors between the pool and the swap file while steps run (NNTrainer 2024 §4.3): one
// loader thread, the most urgent transfer first.
//
// The thread that runs the steps calls free_order(), begin_order() and end_order() for every order
// of an iteration; they wait if a transfer must have ended, and hand over those that may begin.
// After construction nothing is allocated. Errors of transfers (kIo) come out of the next wait; the
// network's memory is then undefined.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "engine/tensor/memory_pool.h"
#include "engine/tensor/residency.h"
#include "engine/tensor/swap_file.h"

namespace moil {

struct SwapStatistics {
  std::uint64_t transfers = 0, read_bytes = 0, written_bytes = 0;
  double waited_seconds = 0;    // steps stood still for transfers
  double transfer_seconds = 0;  // the loader thread was busy
};

class Swapper {
 public:
  // Where an owner lies in the file: by tensor id. offsets: of the stays, in the pool.
  Swapper(const TensorPool& tensors, const std::vector<Stay>& stays,
          const std::vector<std::size_t>& offsets, int last_order,
          const std::vector<std::size_t>& file_offsets, const SwapFile& file,
          const MemoryPool& memory);
  ~Swapper();
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

  // Whether the next pass runs the whole program, or is one of a step's earlier ones. Nothing may
  // be under way.
  void begin_pass(bool whole) { whole_ = whole; }
  // Until what made room for this order is stored.
  void free_order(int order);
  // Begins the loads that may begin now; until what this order uses is loaded.
  void begin_order(int order);
  void end_order(int order);
  // Until everything handed over has ended; after the last order.
  void drain();

  SwapStatistics statistics() const;

 private:
  struct Transfer {
    bool loads = false;
    bool early = false;  // in a step's earlier passes too
    std::byte* memory = nullptr;
    std::size_t file_offset = 0, bytes = 0;
    int deadline = 0;  // the order that waits for it
    std::size_t moved = 0;
    bool open = false;  // handed over and not ended
  };
  struct OrderEvents {
    std::vector<int> stored_before, loaded_before;  // waited for
    std::vector<int> issued_before, issued_after;
  };

  void issue(std::span<const int> transfers);
  void wait(std::span<const int> transfers);
  Transfer* most_urgent();
  void work();
  void move_chunk(const Transfer& transfer, std::size_t bytes) const;

  const SwapFile& file_;
  std::vector<Transfer> transfers_;
  std::vector<OrderEvents> events_;
  std::vector<int> all_;
  bool whole_ = true;

  mutable std::mutex mutex_;
  std::condition_variable handed_over_, ended_;
  int open_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  SwapStatistics statistics_;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace moil
