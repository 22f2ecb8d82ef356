#include "tests/engine/io/onnx/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using All = std::vector<const Numbers*>;  // null for those left out

constexpr std::int64_t kMostNumbers = 1 << 20;

[[noreturn]] void none(const std::string& why) { throw NoRule(why); }

void require_rule(bool holds, const char* why) {
  if (!holds) none(why);
}

std::int64_t count_of(const Ints& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) {
    require_rule(d >= 0 && d <= kMostNumbers && count * d <= kMostNumbers, "too large");
    count *= d;
  }
  return count;
}

std::int64_t axis_in(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  require_rule(axis >= -size && axis < size, "an axis outside");
  return axis < 0 ? axis + size : axis;
}

Ints broadcast(const Ints& a, const Ints& b) {
  Ints result(std::max(a.size(), b.size()), 1);
  for (const Ints* dims : {&a, &b}) {
    for (std::size_t k = 1; k <= dims->size(); ++k) {
      const std::int64_t d = (*dims)[dims->size() - k];
      std::int64_t& to = result[result.size() - k];
      require_rule(d == 1 || to == 1 || d == to, "dims that do not meet");
      if (d != 1) to = d;
    }
  }
  return result;
}

// Where the element that meets `index` of the larger dims lies.
std::size_t place(const Ints& dims, const Ints& index) {
  std::int64_t at = 0;
  const std::size_t skipped = index.size() - dims.size();
  for (std::size_t k = 0; k < dims.size(); ++k)
    at = at * dims[k] + (dims[k] == 1 ? 0 : index[skipped + k]);
  return static_cast<std::size_t>(at);
}

// Every index of these dims, the last axis first.
void each_index(const Ints& dims, const std::function<void(const Ints&)>& visit) {
  Ints index(dims.size(), 0);
  for (std::int64_t left = count_of(dims); left > 0; --left) {
    visit(index);
    for (std::size_t k = dims.size(); k-- > 0;) {
      if (++index[k] < dims[k]) break;
      index[k] = 0;
    }
  }
}

Numbers of_two(const All& in, const std::function<double(double, double)>& f) {
  require_rule(in.size() == 2 && in[0] && in[1], "not two inputs");
  require_rule(in[0]->is_float == in[1]->is_float, "two types");
  Numbers result{broadcast(in[0]->dims, in[1]->dims), {}, in[0]->is_float};
  each_index(result.dims, [&](const Ints& at) {
    result.values.push_back(
        f(in[0]->values[place(in[0]->dims, at)], in[1]->values[place(in[1]->dims, at)]));
  });
  return result;
}

Numbers of_one(const All& in, const std::function<double(double)>& f) {
  require_rule(in.size() == 1 && in[0] && in[0]->is_float, "not one input of floats");
  Numbers result = *in[0];
  for (double& v : result.values) v = f(v);
  return result;
}

Ints ints_of(const Numbers* numbers) {
  require_rule(numbers && !numbers->is_float && numbers->dims.size() <= 1, "no list of numbers");
  constexpr double kMost = 9e18;  // more is none that a whole number can be
  Ints ints;
  for (const double v : numbers->values)
    ints.push_back(static_cast<std::int64_t>(std::clamp(v, -kMost, kMost)));
  return ints;
}

Numbers reshape(const Node& node, const All& in) {
  require_rule(in.size() == 2 && in[0], "not two inputs");
  Ints dims = ints_of(in[1]);
  std::int64_t known = 1, open = -1;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 0 && node.integer("allowzero", 0) == 0) {
      require_rule(k < in[0]->dims.size(), "a dimension that is not there");
      dims[k] = in[0]->dims[k];
    }
    require_rule(dims[k] >= -1 && dims[k] <= kMostNumbers, "no dimension");
    require_rule(dims[k] != -1 || open < 0, "two open dimensions");
    if (dims[k] == -1)
      open = static_cast<std::int64_t>(k);
    else
      known *= dims[k];
    require_rule(known <= kMostNumbers, "too large");
  }
  const auto count = static_cast<std::int64_t>(in[0]->values.size());
  if (open >= 0) {
    require_rule(known > 0 && count % known == 0, "a shape that does not fit");
    dims[static_cast<std::size_t>(open)] = count / known;
  }
  require_rule(count_of(dims) == count, "a shape that does not fit");
  return {dims, in[0]->values, in[0]->is_float};
}

Numbers expand(const All& in) {
  require_rule(in.size() == 2 && in[0], "not two inputs");
  Numbers result{broadcast(in[0]->dims, ints_of(in[1])), {}, in[0]->is_float};
  each_index(result.dims, [&](const Ints& at) {
    result.values.push_back(in[0]->values[place(in[0]->dims, at)]);
  });
  return result;
}

Ints axes_of(const Node& node, const All& in, std::size_t rank) {
  Ints axes = node.integers("axes");
  if (in.size() > 1 && in[1]) axes = ints_of(in[1]);
  for (std::int64_t& axis : axes) axis = axis_in(axis, rank);
  std::sort(axes.begin(), axes.end());
  require_rule(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), "an axis twice");
  return axes;
}

Numbers unsqueeze(const Node& node, const All& in) {
  require_rule(!in.empty() && in.size() <= 2 && in[0], "not two inputs");
  const std::size_t more = in.size() > 1 ? ints_of(in[1]).size() : node.integers("axes").size();
  Numbers result = *in[0];
  for (const std::int64_t axis : axes_of(node, in, in[0]->dims.size() + more))
    result.dims.insert(result.dims.begin() + axis, 1);
  return result;
}

Numbers squeeze(const Node& node, const All& in) {
  require_rule(!in.empty() && in.size() <= 2 && in[0], "not two inputs");
  Numbers result = *in[0];
  Ints axes = axes_of(node, in, in[0]->dims.size());
  require_rule(!axes.empty(), "no axes");
  for (; !axes.empty(); axes.pop_back()) {
    require_rule(result.dims[static_cast<std::size_t>(axes.back())] == 1, "an axis that is not 1");
    result.dims.erase(result.dims.begin() + axes.back());
  }
  return result;
}

Numbers reduce(const Node& node, const All& in, double first,
               const std::function<double(double, double)>& f) {
  require_rule(!in.empty() && in.size() <= 2 && in[0] && in[0]->is_float, "not one input");
  const Numbers& x = *in[0];
  Ints axes = axes_of(node, in, x.dims.size());
  if (axes.empty()) {
    axes.resize(x.dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  Numbers result{x.dims, {}};
  for (const std::int64_t axis : axes) result.dims[static_cast<std::size_t>(axis)] = 1;
  result.values.assign(static_cast<std::size_t>(count_of(result.dims)), first);
  std::size_t i = 0;
  each_index(x.dims, [&](const Ints& at) {
    double& to = result.values[place(result.dims, at)];
    to = f(to, x.values[i++]);
  });
  if (node.op == "ReduceMean")
    for (double& v : result.values)
      v *= static_cast<double>(result.values.size()) / static_cast<double>(x.values.size());
  if (node.integer("keepdims", 1) == 0)
    for (; !axes.empty(); axes.pop_back()) result.dims.erase(result.dims.begin() + axes.back());
  return result;
}

Numbers multiply_matrices(const All& in) {
  require_rule(in.size() == 2 && in[0] && in[1] && in[0]->is_float && in[1]->is_float,
               "not two inputs of floats");
  const Numbers &a = *in[0], &b = *in[1];
  require_rule(a.dims.size() >= 2 && b.dims.size() >= 2, "no matrices");
  const std::int64_t rows = a.dims[a.dims.size() - 2], inner = a.dims.back(),
                     columns = b.dims.back();
  require_rule(inner == b.dims[b.dims.size() - 2], "matrices that do not meet");
  const Ints of_a(a.dims.begin(), a.dims.end() - 2), of_b(b.dims.begin(), b.dims.end() - 2);
  Numbers result{broadcast(of_a, of_b), {}};
  each_index(result.dims, [&](const Ints& at) {
    const std::size_t first_a = place(of_a, at) * static_cast<std::size_t>(rows * inner),
                      first_b = place(of_b, at) * static_cast<std::size_t>(inner * columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += a.values[first_a + static_cast<std::size_t>(r * inner + k)] *
                 b.values[first_b + static_cast<std::size_t>(k * columns + c)];
        result.values.push_back(sum);
      }
    }
  });
  result.dims.insert(result.dims.end(), {rows, columns});
  return result;
}

Numbers transpose(const Node& node, const All& in) {
  require_rule(in.size() == 1 && in[0], "not one input");
  const std::size_t rank = in[0]->dims.size();
  Ints order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  require_rule(order.size() == rank, "perm does not fit");
  Ints seen(rank, 0);
  for (const std::int64_t k : order) ++seen[static_cast<std::size_t>(axis_in(k, rank))];
  require_rule(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(rank),
               "perm names an axis twice");
  Numbers result{{}, {}, in[0]->is_float};
  for (const std::int64_t k : order)
    result.dims.push_back(in[0]->dims[static_cast<std::size_t>(axis_in(k, rank))]);
  each_index(result.dims, [&](const Ints& at) {
    Ints from(rank);
    for (std::size_t k = 0; k < rank; ++k)
      from[static_cast<std::size_t>(axis_in(order[k], rank))] = at[k];
    result.values.push_back(in[0]->values[place(in[0]->dims, from)]);
  });
  return result;
}

// Along an axis, since opset 13.
Numbers softmax(const Node& node, const All& in) {
  require_rule(in.size() == 1 && in[0], "not one input");
  Node along{"", "", "", {}, {}, {}};
  along.attributes["axes"] = Ints{axis_in(node.integer("axis", -1), in[0]->dims.size())};
  const Numbers most =
      reduce(along, in, -HUGE_VAL, [](double a, double b) { return std::max(a, b); });
  const Numbers power = of_two({in[0], &most}, [](double a, double b) { return std::exp(a - b); });
  const Numbers sum = reduce(along, {&power}, 0, [](double a, double b) { return a + b; });
  return of_two({&power, &sum}, [](double a, double b) { return a / b; });
}

Numbers slice(const All& in) {
  require_rule(in.size() >= 4 && in.size() <= 5 && in[0], "not four inputs");
  const Ints starts = ints_of(in[1]), ends = ints_of(in[2]), axes = ints_of(in[3]);
  require_rule(starts.size() == 1 && ends.size() == 1 && axes.size() == 1, "not one axis");
  const Ints steps = in.size() < 5 ? Ints{1} : ints_of(in[4]);
  require_rule(steps.size() == 1 && steps[0] != 0, "no step");
  const std::int64_t step = std::clamp<std::int64_t>(steps[0], -kMostNumbers, kMostNumbers);
  const auto axis = static_cast<std::size_t>(axis_in(axes[0], in[0]->dims.size()));
  const std::int64_t size = in[0]->dims[axis];
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto bound = [&](std::int64_t i) {
    const std::int64_t counted = i < 0 && i >= -size ? i + size : i;
    return std::clamp(counted, low, high);
  };
  const std::int64_t start = bound(starts[0]), end = bound(ends[0]);
  Numbers result{in[0]->dims, {}, in[0]->is_float};
  result.dims[axis] = 0;
  for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step) ++result.dims[axis];
  each_index(result.dims, [&](const Ints& at) {
    Ints from = at;
    from[axis] = start + at[axis] * step;
    result.values.push_back(in[0]->values[place(in[0]->dims, from)]);
  });
  return result;
}

Numbers choose(const All& in) {
  require_rule(in.size() == 3 && in[0] && in[1] && in[2] && !in[0]->is_float, "not three inputs");
  require_rule(in[1]->is_float == in[2]->is_float, "two types");
  Numbers result{broadcast(broadcast(in[0]->dims, in[1]->dims), in[2]->dims), {}, in[1]->is_float};
  each_index(result.dims, [&](const Ints& at) {
    const Numbers& from = in[0]->values[place(in[0]->dims, at)] != 0 ? *in[1] : *in[2];
    result.values.push_back(from.values[place(from.dims, at)]);
  });
  return result;
}

Numbers compare(const All& in, const std::function<bool(double, double)>& f) {
  Numbers result = of_two(in, [&](double a, double b) { return f(a, b) ? 1.0 : 0.0; });
  result.is_float = false;
  return result;
}

// A convolution of one dimension; as exports write it.
Numbers convolve(const Node& node, const All& in) {
  require_rule(in.size() >= 2 && in.size() <= 3 && in[0] && in[1], "not two inputs");
  const Numbers &x = *in[0], &w = *in[1];
  require_rule(x.is_float && w.is_float && x.dims.size() == 3 && w.dims.size() == 3, "no line");
  require_rule(node.integer("group", 1) == 1 && x.dims[1] == w.dims[1], "channels do not fit");
  require_rule(!node.has("auto_pad"), "auto_pad");
  require_rule(node.integers("kernel_shape", {w.dims[2]}) == Ints{w.dims[2]}, "no such kernel");
  const Ints pads = node.integers("pads", {0, 0}), strides = node.integers("strides", {1}),
             steps = node.integers("dilations", {1});
  require_rule(pads.size() == 2 && strides.size() == 1 && steps.size() == 1, "not one dimension");
  for (const std::int64_t v : {pads[0], pads[1], strides[0] - 1, steps[0] - 1})
    require_rule(v >= 0 && v < 100, "a size that is none");
  const std::int64_t room = x.dims[2] + pads[0] + pads[1] - (w.dims[2] - 1) * steps[0] - 1;
  require_rule(room >= 0, "a kernel that does not fit");
  if (in.size() == 3) require_rule(in[2] && in[2]->dims == Ints{w.dims[0]}, "no such bias");
  Numbers result{{x.dims[0], w.dims[0], room / strides[0] + 1}, {}};
  each_index(result.dims, [&](const Ints& at) {
    double sum = in.size() == 3 ? in[2]->values[static_cast<std::size_t>(at[1])] : 0;
    for (std::int64_t c = 0; c < x.dims[1]; ++c) {
      for (std::int64_t k = 0; k < w.dims[2]; ++k) {
        const std::int64_t from = at[2] * strides[0] + k * steps[0] - pads[0];
        if (from >= 0 && from < x.dims[2])
          sum += x.values[place(x.dims, {at[0], c, from})] * w.values[place(w.dims, {at[1], c, k})];
      }
    }
    result.values.push_back(sum);
  });
  return result;
}

Numbers join(const Node& node, const All& in) {
  require_rule(!in.empty() && in[0], "no inputs");
  const auto axis = static_cast<std::size_t>(axis_in(node.integer("axis", 1), in[0]->dims.size()));
  Numbers result{in[0]->dims, {}, in[0]->is_float};
  result.dims[axis] = 0;
  for (const Numbers* x : in) {
    require_rule(x && x->dims.size() == result.dims.size() && x->is_float == result.is_float,
                 "inputs that do not meet");
    for (std::size_t k = 0; k < result.dims.size(); ++k)
      require_rule(k == axis || x->dims[k] == result.dims[k], "inputs that do not meet");
    result.dims[axis] += x->dims[axis];
  }
  each_index(result.dims, [&](const Ints& at) {
    Ints from = at;
    std::size_t i = 0;
    while (from[axis] >= in[i]->dims[axis]) from[axis] -= in[i++]->dims[axis];
    result.values.push_back(in[i]->values[place(in[i]->dims, from)]);
  });
  return result;
}

Numbers cast(const Node& node, const All& in) {
  require_rule(in.size() == 1 && in[0], "not one input");
  const std::int64_t to = node.integer("to", 0);
  require_rule(to == 1 || to == 6 || to == 7 || to == 9, "a type that is not known here");
  Numbers result = *in[0];
  result.is_float = to == 1;
  for (double& v : result.values) {
    if (to == 9) v = v != 0 ? 1 : 0;
    if (to == 6 || to == 7) v = std::trunc(v);
  }
  return result;
}

Numbers norm(const Node& node, const All& in) {
  require_rule(in.size() >= 2 && in.size() <= 3 && in[0] && in[1], "not two inputs");
  const Numbers& x = *in[0];
  require_rule(axis_in(node.integer("axis", -1), x.dims.size()) + 1 ==
                   static_cast<std::int64_t>(x.dims.size()),
               "several axes");
  Node mean{"", "ReduceMean", "", {}, {}, {{"axes", Ints{-1}}}};
  const auto sum = [](double a, double b) { return a + b; };
  const Numbers middle = reduce(mean, {&x}, 0, sum);
  const Numbers centred = of_two({&x, &middle}, std::minus<>());
  const Numbers square = of_one({&centred}, [](double v) { return v * v; });
  const Numbers variance = reduce(mean, {&square}, 0, sum);
  const double epsilon = node.number("epsilon", 1e-5);
  Numbers result =
      of_two({&centred, &variance}, [&](double a, double b) { return a / std::sqrt(b + epsilon); });
  result = of_two({&result, in[1]}, std::multiplies<>());
  return in.size() < 3 || !in[2] ? result : of_two({&result, in[2]}, std::plus<>());
}

Numbers rows(const Node& node, const All& in) {
  require_rule(in.size() == 2 && in[0] && in[1] && !in[1]->is_float, "not two inputs");
  const Numbers &table = *in[0], &ids = *in[1];
  const auto axis = static_cast<std::size_t>(axis_in(node.integer("axis", 0), table.dims.size()));
  Numbers result{table.dims, {}, table.is_float};
  result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(axis), ids.dims.begin(),
                     ids.dims.end());
  each_index(result.dims, [&](const Ints& at) {
    const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis),
               behind = first + static_cast<std::ptrdiff_t>(ids.dims.size());
    auto id = static_cast<std::int64_t>(ids.values[place(ids.dims, Ints(first, behind))]);
    const std::int64_t size = table.dims[axis];
    require_rule(id >= -size && id < size, "an index outside");
    Ints from(at.begin(), first);
    from.push_back(id < 0 ? id + size : id);
    from.insert(from.end(), behind, at.end());
    result.values.push_back(table.values[place(table.dims, from)]);
  });
  return result;
}

using Rule = Numbers (*)(const Node&, const All&);

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> table = {
      {"Add", [](const Node&, const All& in) { return of_two(in, std::plus<>()); }},
      {"Sub", [](const Node&, const All& in) { return of_two(in, std::minus<>()); }},
      {"Mul", [](const Node&, const All& in) { return of_two(in, std::multiplies<>()); }},
      {"Div",
       [](const Node&, const All& in) {
         require_rule(in.size() == 2 && in[0] && in[0]->is_float, "whole numbers");
         return of_two(in, std::divides<>());
       }},
      {"Pow",
       [](const Node&, const All& in) {
         return of_two(in, [](double a, double b) { return std::pow(a, b); });
       }},
      {"Max",
       [](const Node&, const All& in) {
         return of_two(in, [](double a, double b) { return std::max(a, b); });
       }},
      {"Min",
       [](const Node&, const All& in) {
         return of_two(in, [](double a, double b) { return std::min(a, b); });
       }},
      {"Equal", [](const Node&, const All& in) { return compare(in, std::equal_to<>()); }},
      {"Less", [](const Node&, const All& in) { return compare(in, std::less<>()); }},
      {"LessOrEqual", [](const Node&, const All& in) { return compare(in, std::less_equal<>()); }},
      {"And",
       [](const Node&, const All& in) {
         return compare(in, [](double a, double b) { return a != 0 && b != 0; });
       }},
      {"Sqrt", [](const Node&,
                  const All& in) { return of_one(in, [](double v) { return std::sqrt(v); }); }},
      {"Exp",
       [](const Node&, const All& in) { return of_one(in, [](double v) { return std::exp(v); }); }},
      {"Erf",
       [](const Node&, const All& in) { return of_one(in, [](double v) { return std::erf(v); }); }},
      {"Tanh", [](const Node&,
                  const All& in) { return of_one(in, [](double v) { return std::tanh(v); }); }},
      {"Sigmoid",
       [](const Node&, const All& in) {
         return of_one(in, [](double v) { return 1 / (1 + std::exp(-v)); });
       }},
      {"Relu", [](const Node&,
                  const All& in) { return of_one(in, [](double v) { return v > 0 ? v : 0; }); }},
      {"Neg", [](const Node&, const All& in) { return of_one(in, std::negate<>()); }},
      {"Reciprocal",
       [](const Node&, const All& in) { return of_one(in, [](double v) { return 1 / v; }); }},
      {"Identity",
       [](const Node&, const All& in) {
         require_rule(in.size() == 1 && in[0], "not one input");
         return *in[0];
       }},
      {"ReduceSum",
       [](const Node& node, const All& in) { return reduce(node, in, 0, std::plus<>()); }},
      {"ReduceMean",
       [](const Node& node, const All& in) { return reduce(node, in, 0, std::plus<>()); }},
      {"ReduceMax",
       [](const Node& node, const All& in) {
         return reduce(node, in, -HUGE_VAL, [](double a, double b) { return std::max(a, b); });
       }},
      {"ReduceMin",
       [](const Node& node, const All& in) {
         return reduce(node, in, HUGE_VAL, [](double a, double b) { return std::min(a, b); });
       }},
      {"Log",
       [](const Node&, const All& in) { return of_one(in, [](double v) { return std::log(v); }); }},
      {"Reshape", reshape},
      {"Expand", [](const Node&, const All& in) { return expand(in); }},
      {"Unsqueeze", unsqueeze},
      {"Squeeze", squeeze},
      {"MatMul", [](const Node&, const All& in) { return multiply_matrices(in); }},
      {"Transpose", transpose},
      {"Softmax", softmax},
      {"Slice", [](const Node&, const All& in) { return slice(in); }},
      {"Where", [](const Node&, const All& in) { return choose(in); }},
      {"Cast", cast},
      {"Conv", convolve},
      {"Concat", join},
      {"LayerNormalization", norm},
      {"Gather", rows},
  };
  return table;
}

class Evaluation {
 public:
  Evaluation(const Graph& graph, std::map<std::string, Numbers> known)
      : graph_(graph), known_(std::move(known)) {
    for (const auto& [name, tensor] : graph.constants) {
      Numbers numbers{tensor.dims, {}, tensor.is_float};
      if (tensor.is_float)
        numbers.values.assign(tensor.floats.begin(), tensor.floats.end());
      else
        numbers.values.assign(tensor.ints.begin(), tensor.ints.end());
      known_[name] = std::move(numbers);
    }
  }

  const Numbers& value(const std::string& name, int depth = 0) {
    require_rule(depth < 200, "a circle");
    if (const auto it = known_.find(name); it != known_.end()) return it->second;
    for (const Node& node : graph_.nodes) {
      if (node.outputs.size() != 1 || node.outputs[0] != name) continue;
      const auto rule = rules().find(node.op);
      require_rule(node.domain.empty() && rule != rules().end(), "no rule");
      std::vector<Numbers> values;
      for (const std::string& input : node.inputs)
        values.push_back(input.empty() ? Numbers() : value(input, depth + 1));
      All in;
      for (std::size_t i = 0; i < values.size(); ++i)
        in.push_back(node.inputs[i].empty() ? nullptr : &values[i]);
      try {
        return known_[name] = rule->second(node, in);
      } catch (const NoRule&) {
        throw;
      } catch (const std::exception& e) {
        none(e.what());
      }
    }
    none("nothing computes " + name);
  }

 private:
  const Graph& graph_;
  std::map<std::string, Numbers> known_;
};

}  // namespace

Numbers by_the_rules(const Graph& graph, const std::map<std::string, Numbers>& inputs,
                     const std::string& output) {
  return Evaluation(graph, inputs).value(output);
}

}  // namespace moil::onnx
