// Scaled dot-product attention (Vaswani 2017): softmax(q k^T / sqrt(depth)) v, head by head.
//
// Each head of each sample is computed by itself on one thread: the same bits with any number of
// threads and in any batch. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

struct AttentionShape {
  std::int64_t batch = 1, heads = 1;
  std::int64_t queries = 1, keys = 1;  // of a sample
  std::int64_t depth = 1;              // of a head
  bool causal = false;                 // query i sees the keys 0 to i
  int parts = 1;                       // heads that are computed at once
};

// A row a position, the samples behind one another; head h begins at element h * depth of a row.
struct HeadRows {
  float* data = nullptr;
  std::int64_t stride = 0;  // from one row to the next
};

struct AttentionArgs {
  HeadRows query, key, value;
  HeadRows context;  // of the queries: the result, or its derivative
  // The first keys of each sample that count; null: all do. A sample without any has a context of
  // 0.
  const std::int32_t* lengths = nullptr;
  // [batch, heads, queries, keys], each head's packed into its beginning; null: one head's a part.
  float* probabilities = nullptr;
  float* scratch = nullptr;
};

// Floats of scratch. Backward needs more than forward.
[[nodiscard]] std::int64_t attention_scratch(const AttentionShape& shape, bool keeps_probabilities,
                                             bool backward);

// Writes the probabilities, if they are kept, and the context, which may lie over the query.
void attention(const AttentionShape& shape, const AttentionArgs& args);

// Reads query, key, value and the context's derivative, and writes the derivatives of the three in
// their places. Probabilities that are kept are read, others are made again.
void attention_derivative(const AttentionShape& shape, const AttentionArgs& args);

}  // namespace moil
