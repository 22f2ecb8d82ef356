// F of the recurrent layers: step after step.
#include <algorithm>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/recurrent.h"
#include "engine/layers/lengths.h"
#include "engine/layers/recurrent/recurrent.h"

namespace moil {

void Recurrent::forward(const LayerRun& run) {
  if (masked_) check_lengths(name_, {lengths(run), static_cast<std::size_t>(batch_)}, length_);
  add_inputs(run);
  for (std::int64_t place = 0; place < length_; ++place) {
    add_state(run, place);
    run_cells(run, place);
  }
  give_states(run);
}

// gates = x W' + b, of all steps at once. The new gate of a gru takes its state's bias inside.
void Recurrent::add_inputs(const LayerRun& run) const {
  float* bias = nullptr;
  if (p_.bias) {
    bias = reinterpret_cast<float*>(run.workspace);
    std::copy_n(run.weights[kInputBias], gate_width(), bias);
    for (std::int64_t j = 0; j < plain_width(); ++j) bias[j] += run.weights[kStateBias][j];
  }
  linear(of_inputs(), run.inputs[0], features_, run.weights[kOfInput], bias,
         gates_of(run, 0).first);
}

// gates += h W', of one step.
void Recurrent::add_state(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  if (is_gru()) {
    const Rows inner = of_step(inner_of(run), step, units);
    for (std::int64_t n = 0; n < batch_; ++n) {
      if (p_.bias)
        std::copy_n(run.weights[kStateBias] + plain_width(), units, inner.row(n));
      else
        std::fill_n(inner.row(n), units, 0.0F);
    }
  }
  const Rows from = before(run, 0, place);
  if (from.first == nullptr) return;
  each_product(run, step, [&](const Rows& to, std::int64_t width, std::int64_t first) {
    sgemm(Transpose::kNo, Transpose::kYes, batch_, width, units, 1, from.first, from.stride,
          run.weights[kOfState] + first * units, units, 1, to.first, to.stride);
  });
}

void Recurrent::run_cells(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  const Rows gates = gates_of(run, step), state = of_step(states_of(run), step, units);
  parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      if (is_padding(run, n, step)) {
        std::fill_n(state.row(n), units, 0.0F);
        if (p_.kind == RecurrentKind::kLstm)
          std::fill_n(of_step(inner_of(run), step, units).row(n), units, 0.0F);
        continue;
      }
      if (p_.kind == RecurrentKind::kRnn) {
        activate(p_.activation, 0, gates.row(n), state.row(n), 0, units);
        continue;
      }
      float* inner = of_step(inner_of(run), step, units).row(n);
      if (p_.kind == RecurrentKind::kLstm)
        lstm_cell(gates.row(n), before(run, 1, place).row(n), inner, state.row(n), units);
      else
        gru_cell(gates.row(n), inner, before(run, 0, place).row(n), state.row(n), units);
    }
  });
}

void Recurrent::give_states(const LayerRun& run) const {
  const auto give = [&](std::size_t state, float* to) {
    for (std::int64_t n = 0; n < batch_; ++n, to += p_.units) {
      const std::int64_t length = masked_ ? lengths(run)[n] : length_;
      if (length == 0 && !given_) {
        std::fill_n(to, p_.units, 0.0F);
        continue;
      }
      const Rows from = length == 0 ? before(run, state, 0)
                                    : of_step(state == 0 ? states_of(run) : inner_of(run),
                                              p_.reverse ? 0 : length - 1, p_.units);
      std::copy_n(from.row(n), p_.units, to);
    }
  };
  if (keeps_states_apart()) give(0, run.outputs[0]);
  if (p_.is_cell && p_.kind == RecurrentKind::kLstm) give(1, run.outputs[1]);
  for (std::size_t state = 0; p_.gives_state && state < states(); ++state)
    give(state, run.outputs[1 + state]);
}

}  // namespace moil
