// Who may touch which range of the pool, and what has to happen before somebody else does: the case
// distinction of "Data Transfer on Unified Memory" (Sensors 2021, 21, 2364 §3.1), for every tensor.
//
// The same rules plan transfers, cost them in a selection, and carry them out. Pure state; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/device/processor.h"

namespace moil {

struct Touch {
  RangeId range = kNoRange;
  bool writes = false;
  bool fresh = false;  // overwrites all of it: nothing that was there matters
};

enum class Transfer : std::uint8_t {
  kNone,
  kTake,  // to the processor
  kGive,  // to the host
};

// A transfer before a touch. Without contents no byte has to move; unified memory changes hands all
// the same.
struct Move {
  Transfer transfer = Transfer::kNone;
  bool contents = false;
  bool writes = false;  // of kGive: the host may write
};

class HandOver {
 public:
  explicit HandOver(std::size_t ranges = 0, bool shares_memory = true)
      : holders_(ranges, Holder::kNobody), shares_memory_(shares_memory) {}

  // What has to happen so that the host goes on with what it has in a range that is nobody's.
  Move adopt(RangeId range);
  // What has to happen before the touch, which is then done.
  Move touch(const Touch& touch, bool by_processor);
  // Whether it was anybody's.
  bool retire(RangeId range);
  bool is_nobodys(RangeId range) const { return holder(range) == Holder::kNobody; }

 private:
  enum class Holder : std::uint8_t { kNobody, kHost, kProcessor, kBoth };
  Holder holder(RangeId range) const { return holders_[static_cast<std::size_t>(range)]; }

  std::vector<Holder> holders_;
  bool shares_memory_;
};

}  // namespace moil
