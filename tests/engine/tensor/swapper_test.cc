#include "engine/tensor/swapper.h"

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace moil {
namespace {

// A tensor of a page that is loaded for order 5 from order 2 on, and stored behind it until 7.
class OneTensor {
 public:
  OneTensor() {
    const TensorInfo info{Dims{static_cast<std::int64_t>(kSwapAlignment / 4)}, Layout::kPlain};
    const TensorId id =
        pool_.add({"t", info, TensorKind::kActivation, CreateMode::kCreate, kNoTensor});
    pool_.use(id, 5);
    pool_.merge();
    file_.write(0, {memory_.data(), kSwapAlignment});
    swapper_.emplace(pool_, std::vector<Stay>{{id, 5, 5, 2, 7, true, true}},
                     std::vector<std::size_t>{0}, kLast, std::vector<std::size_t>{0}, file_,
                     memory_);
  }
  Swapper& swapper() { return *swapper_; }
  // Once all has ended that was handed over.
  std::uint64_t moved() {
    swapper_->drain();
    return swapper_->statistics().transfers;
  }

  static constexpr int kLast = 9;

 private:
  const test::ScratchFolder folder_;
  TensorPool pool_;
  MemoryPool memory_{kSwapAlignment};
  SwapFile file_{folder_.path(), kSwapAlignment};
  std::optional<Swapper> swapper_;
};

// Earlier, its memory is another's; later, the step waits that should find it there.
TEST(Swapper, ALoadBeginsAtTheOrderThatThePlanGivesIt) {
  OneTensor tensor;
  for (int order = 0; order < 5; ++order) {
    tensor.swapper().free_order(order);
    tensor.swapper().begin_order(order);
    EXPECT_EQ(tensor.moved(), order < 2 ? 0U : 1U) << order;
    tensor.swapper().end_order(order);
  }
}

TEST(Swapper, AStoreBeginsBehindTheLastUse) {
  OneTensor tensor;
  for (int order = 2; order <= 5; ++order) {
    tensor.swapper().begin_order(order);
    EXPECT_EQ(tensor.moved(), 1U) << order;
    tensor.swapper().end_order(order);
  }
  EXPECT_EQ(tensor.moved(), 2U);
}

}  // namespace
}  // namespace moil
