#include "engine/device/transfer_costs.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/median.h"
#include "base/seconds.h"
#include "engine/device/processor.h"
#include "engine/tensor/memory_pool.h"

namespace moil {
namespace {

constexpr std::size_t kSmall = 16 << 10, kLarge = 16 << 20;
constexpr int kTransfers = 15;

struct Times {
  double take = 0, give = 0;
};

// Touched by both sides, so that there is something to hand over.
Times times_of(ProcessorMemory& memory, RangeId range, std::span<std::byte> bytes) {
  std::vector<double> takes, gives;
  memory.give(range, /*contents=*/false, /*writes=*/true);
  for (int run = 0; run < kTransfers; ++run) {
    std::fill(bytes.begin(), bytes.end(), std::byte(run));
    auto start = std::chrono::steady_clock::now();
    memory.take(range, /*contents=*/true);
    memory.finish();
    takes.push_back(seconds_since(start));
    start = std::chrono::steady_clock::now();
    memory.give(range, /*contents=*/true, /*writes=*/true);
    gives.push_back(seconds_since(start));
  }
  memory.retire(range);
  return {median(takes), median(gives)};
}

TransferCost line(double small, double large) {
  TransferCost cost;
  cost.seconds_per_byte = std::max(0.0, (large - small) / static_cast<double>(kLarge - kSmall));
  cost.seconds = std::max(0.0, small - cost.seconds_per_byte * static_cast<double>(kSmall));
  return cost;
}

}  // namespace

TransferCosts measure_transfers(Processor& processor) {
  MemoryPool pool(kSmall + kLarge);
  const MemoryRange ranges[] = {{0, 0, kSmall}, {kSmall, kSmall, kLarge}};
  const auto memory = processor.attach({pool.data(), pool.bytes()}, pool.bytes(), ranges);
  try {
    const Times small = times_of(*memory, 0, {pool.data(), kSmall});
    const Times large = times_of(*memory, 1, {pool.data(kSmall), kLarge});
    return {processor.shares_memory(), line(small.take, large.take), line(small.give, large.give)};
  } catch (const Error&) {
    if (memory->is_lost()) pool.abandon();
    throw;
  }
}

}  // namespace moil
