#include "engine/tensor/tensor_pool.h"

#include <algorithm>

#include "base/error.h"

namespace moil {
namespace {

bool is_view(CreateMode mode) {
  return mode == CreateMode::kModifyView || mode == CreateMode::kReadOnlyView ||
         mode == CreateMode::kExtend;
}

// One use an order, sorted; it writes if any of them did.
void merge_uses(std::vector<TensorUse>& uses) {
  std::stable_sort(uses.begin(), uses.end());
  std::size_t kept = 0;
  for (const TensorUse& use : uses) {
    if (kept > 0 && uses[kept - 1].order == use.order) {
      if (writes(use.access)) uses[kept - 1].access = Access::kWrite;
    } else {
      uses[kept++] = use;
    }
  }
  uses.resize(kept);
}

}  // namespace

TensorId TensorPool::add(TensorSpec spec) {
  const auto id = static_cast<TensorId>(entries_.size());
  if (is_view(spec.mode)) {
    if (spec.target < 0 || spec.target >= id) {
      throw Error(ErrorCode::kInternal, "tensor " + spec.name + " is a view of nothing");
    }
    if (spec.info.bytes() > entry(spec.target).spec.info.bytes()) {
      throw Error(ErrorCode::kInternal,
                  "tensor " + spec.name + " is a view larger than its target");
    }
  }
  entries_.push_back({std::move(spec), {}, false, id});
  return id;
}

void TensorPool::use(TensorId id, int order, Access access) {
  entry(id).uses.push_back({order, access});
  last_order_ = std::max(last_order_, order);
}

void TensorPool::use_always(TensorId id) { entry(id).always = true; }

TensorId TensorPool::owner(TensorId id) const {
  while (entry(id).parent != id) id = entry(id).parent;
  return id;
}

void TensorPool::join(TensorId view, TensorId target) {
  Entry& from = entry(owner(view));
  const TensorId to_id = owner(target);
  Entry& to = entry(to_id);
  to.uses.insert(to.uses.end(), from.uses.begin(), from.uses.end());
  to.always = to.always || from.always;
  from.uses.clear();
  from.parent = to_id;
}

void TensorPool::merge() {
  std::vector<TensorId> modify;
  for (TensorId id = 0; id < static_cast<TensorId>(entries_.size()); ++id) {
    const TensorSpec& s = entry(id).spec;
    if (s.mode == CreateMode::kReadOnlyView || s.mode == CreateMode::kExtend) join(id, s.target);
    if (s.mode == CreateMode::kModifyView) modify.push_back(id);
  }
  const auto first = [this](TensorId id) {
    const auto& u = entry(owner(id)).uses;
    return u.empty() ? 0 : std::min_element(u.begin(), u.end())->order;
  };
  const auto last = [this](TensorId id) {
    const auto& u = entry(owner(id)).uses;
    return u.empty() ? -1 : std::max_element(u.begin(), u.end())->order;
  };
  std::stable_sort(modify.begin(), modify.end(),
                   [&](TensorId a, TensorId b) { return first(a) < first(b); });
  for (const TensorId id : modify) {
    const TensorId target = entry(id).spec.target;
    if (owner(id) == owner(target) || is_always(target) || is_always(id)) continue;
    if (last(target) <= first(id)) join(id, target);
  }
  for (TensorId id = 0; id < static_cast<TensorId>(entries_.size()); ++id) {
    Entry& e = entry(id);
    merge_uses(e.uses);
    if (e.parent != id) continue;
    if (e.uses.empty() && !e.always) continue;
    owners_.push_back(id);
    MemoryRequest request{e.spec.info.bytes(), 0, last_order_};
    if (!e.always) {
      request.first = e.uses.front().order;
      request.last = e.uses.back().order;
    }
    requests_.push_back(request);
  }
}

std::vector<int> TensorPool::orders(TensorId id) const {
  std::vector<int> orders;
  for (const TensorUse& use : uses(id)) orders.push_back(use.order);
  return orders;
}

TensorId TensorPool::data_of(TensorId id) const {
  while (id != kNoTensor && spec(id).mode == CreateMode::kReadOnlyView) id = spec(id).target;
  return id;
}

bool TensorPool::is_always(TensorId id) const { return entry(owner(id)).always; }

}  // namespace moil
