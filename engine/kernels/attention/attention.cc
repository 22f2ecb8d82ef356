#include "engine/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/softmax.h"

namespace moil {
namespace {

constexpr Transpose kNo = Transpose::kNo, kYes = Transpose::kYes;

std::int64_t scores_of(const AttentionShape& s) { return s.queries * s.keys; }

// One head of one sample.
struct Head {
  std::int64_t queries, keys, depth;
  std::int64_t visible;  // of the keys
  bool causal;
  float scale;
  HeadRows query, key, value, context;
  float* probabilities;  // [queries, visible]
};

Head head_of(const AttentionShape& s, const AttentionArgs& args, std::int64_t pair,
             float* probabilities) {
  const std::int64_t sample = pair / s.heads, offset = pair % s.heads * s.depth;
  const auto rows = [&](HeadRows all, std::int64_t count) {
    return HeadRows{all.data + sample * count * all.stride + offset, all.stride};
  };
  const std::int64_t visible = args.lengths ? args.lengths[sample] : s.keys;
  if (args.probabilities) probabilities = args.probabilities + pair * scores_of(s);
  return {s.queries,
          s.keys,
          s.depth,
          visible,
          s.causal,
          1 / std::sqrt(static_cast<float>(s.depth)),
          rows(args.query, s.queries),
          rows(args.key, s.keys),
          rows(args.value, s.keys),
          rows(args.context, s.queries),
          probabilities};
}

void zero(HeadRows rows, std::int64_t begin, std::int64_t end, std::int64_t depth) {
  for (std::int64_t r = begin; r < end; ++r) std::fill_n(rows.data + r * rows.stride, depth, 0.0F);
}

void find_probabilities(const Head& h) {
  float* p = h.probabilities;
  sgemm_serial(kNo, kYes, h.queries, h.visible, h.depth, h.scale, h.query.data, h.query.stride,
               h.key.data, h.key.stride, 0.0F, p, h.visible);
  if (!h.causal) return softmax(p, p, h.visible, 0, h.queries);
  for (std::int64_t i = 0; i < h.queries; ++i, p += h.visible) {
    const std::int64_t seen = std::min(i + 1, h.visible);
    softmax(p, p, seen, 0, 1);
    std::fill(p + seen, p + h.visible, 0.0F);
  }
}

void forward_head(const Head& h) {
  if (h.visible == 0) return zero(h.context, 0, h.queries, h.depth);
  find_probabilities(h);
  sgemm_serial(kNo, kNo, h.queries, h.depth, h.visible, 1.0F, h.probabilities, h.visible,
               h.value.data, h.value.stride, 0.0F, h.context.data, h.context.stride);
}

// slopes: [queries, visible], of the scores; query: [queries, depth], until the keys are through.
void backward_head(const Head& h, float* slopes, float* query) {
  zero(h.key, h.visible, h.keys, h.depth);
  zero(h.value, h.visible, h.keys, h.depth);
  if (h.visible == 0) return zero(h.query, 0, h.queries, h.depth);
  const float* p = h.probabilities;
  sgemm_serial(kNo, kYes, h.queries, h.visible, h.depth, 1.0F, h.context.data, h.context.stride,
               h.value.data, h.value.stride, 0.0F, slopes, h.visible);
  sgemm_serial(kYes, kNo, h.visible, h.depth, h.queries, 1.0F, p, h.visible, h.context.data,
               h.context.stride, 0.0F, h.value.data, h.value.stride);
  softmax_derivative(p, slopes, slopes, h.visible, 0, h.queries);
  sgemm_serial(kNo, kNo, h.queries, h.depth, h.visible, h.scale, slopes, h.visible, h.key.data,
               h.key.stride, 0.0F, query, h.depth);
  sgemm_serial(kYes, kNo, h.visible, h.depth, h.queries, h.scale, slopes, h.visible, h.query.data,
               h.query.stride, 0.0F, h.key.data, h.key.stride);
  for (std::int64_t i = 0; i < h.queries; ++i)
    std::copy_n(query + i * h.depth, h.depth, h.query.data + i * h.query.stride);
}

// Calls compute(pair, scratch of the part) for every head of every sample.
template <class Compute>
void for_heads(const AttentionShape& s, const AttentionArgs& args, bool backward,
               const Compute& compute) {
  const std::int64_t a_part =
      attention_scratch(s, args.probabilities != nullptr, backward) / s.parts;
  parallel_parts(s.parts, [&](int part) {
    const Range range = part_of(s.batch * s.heads, part, s.parts);
    for (std::int64_t pair = range.begin; pair < range.end; ++pair)
      compute(pair, args.scratch + part * a_part);
  });
}

}  // namespace

std::int64_t attention_scratch(const AttentionShape& s, bool keeps_probabilities, bool backward) {
  const std::int64_t probabilities = keeps_probabilities ? 0 : scores_of(s);
  return s.parts * (probabilities + (backward ? scores_of(s) + s.queries * s.depth : 0));
}

void attention(const AttentionShape& s, const AttentionArgs& args) {
  for_heads(s, args, false, [&](std::int64_t pair, float* scratch) {
    forward_head(head_of(s, args, pair, scratch));
  });
}

void attention_derivative(const AttentionShape& s, const AttentionArgs& args) {
  for_heads(s, args, true, [&](std::int64_t pair, float* scratch) {
    float* slopes = scratch;
    float* query = slopes + scores_of(s);
    const Head head = head_of(s, args, pair, query + s.queries * s.depth);
    if (!args.probabilities && head.visible > 0) find_probabilities(head);
    backward_head(head, slopes, query);
  });
}

}  // namespace moil
