#include "datasets/transforms/view.h"

#include <string>

#include "base/error.h"
#include "base/random.h"

namespace moil::data {
namespace {

constexpr double kMostDrawnZoom = 1.25;

bool within(double value, double least, double most) { return value >= least && value <= most; }

}  // namespace

void View::check() const {
  if (within(zoom, 1, kMostZoom) && within(x, 0, 1) && within(y, 0, 1)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a view of zoom " + std::to_string(zoom) + " at (" + std::to_string(x) + ", " +
                  std::to_string(y) + "); expected a zoom from 1 to 16 and places from 0 to 1");
}

View view_of(const Digest& sample, std::uint16_t number, bool may_flip) {
  if (number == 0) return {};
  const auto* name = reinterpret_cast<const char*>(sample.bytes.data());
  Random random(derive_seed(number, {name, sample.bytes.size()}));
  View view;
  view.zoom = 1 + (kMostDrawnZoom - 1) * random.unit();
  view.x = random.unit();
  view.y = random.unit();
  view.flip = random.below(2) == 1 && may_flip;
  return view;
}

}  // namespace moil::data
