// CG and CD of the recurrent layers: from the last step to the first.
#include <algorithm>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/kernels/rows/recurrent.h"
#include "engine/layers/recurrent/recurrent.h"

namespace moil {

// The state's, and the cell's, behind the last step.
void Recurrent::take_derivatives(const LayerRun& run) const {
  const std::size_t elements = state_bytes() / sizeof(float);
  const auto add = [&](std::size_t state, std::size_t output) {
    const float* from = run.output_derivatives[output];
    float* to = carried(run, state);
    for (std::size_t k = 0; from != nullptr && k < elements; ++k) to[k] += from[k];
  };
  std::fill_n(carried(run, 0), states() * elements, 0.0F);
  if (keeps_states_apart()) add(0, 0);
  if (p_.is_cell && p_.kind == RecurrentKind::kLstm) add(1, 1);
  for (std::size_t state = 0; p_.gives_state && state < states(); ++state) add(state, 1 + state);
}

// From the last step to the first: gates become their derivatives, and what was carried ends as
// the derivative of the state before the first step.
void Recurrent::go_back(const LayerRun& run) const {
  take_derivatives(run);
  for (std::int64_t place = length_ - 1; place >= 0; --place) step_back(run, place);
}

void Recurrent::step_back(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  float* d_state = carried(run, 0);
  if (const float* dy = run.output_derivatives[0]; dy != nullptr && !keeps_states_apart()) {
    for (std::int64_t n = 0; n < batch_; ++n)
      for (std::int64_t j = 0; j < units && !is_padding(run, n, step); ++j)
        d_state[n * units + j] += dy[(n * length_ + step) * units + j];
  }
  cells_back(run, place);
  const Rows carried_on{d_state, units}, kept{reinterpret_cast<float*>(run.workspace), units};
  keep_padding(run, step, carried_on, kept);
  // What goes to a gru's state before without a product is there already.
  const float beta = is_gru() ? 1 : 0;
  each_product(run, step, [&](const Rows& from, std::int64_t width, std::int64_t first) {
    sgemm(Transpose::kNo, Transpose::kNo, batch_, units, width, 1, from.first, from.stride,
          run.weights[kOfState] + first * units, units, beta, d_state, units);
  });
  keep_padding(run, step, kept, carried_on);
}

void Recurrent::cells_back(const LayerRun& run, std::int64_t place) const {
  const std::int64_t step = step_at(place), units = p_.units;
  const Rows gates = gates_of(run, step), state = of_step(states_of(run), step, units);
  const Rows d_state{carried(run, 0), units};
  const Rows scratch{reinterpret_cast<float*>(run.workspace), units};
  parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      if (is_padding(run, n, step)) {
        std::fill_n(gates.row(n), gate_width(), 0.0F);
        if (is_gru()) std::fill_n(of_step(inner_of(run), step, units).row(n), units, 0.0F);
        continue;
      }
      if (p_.kind == RecurrentKind::kRnn) {
        activation_derivative(p_.activation, 0, state.row(n), d_state.row(n), gates.row(n), 0,
                              units);
        continue;
      }
      float* inner = of_step(inner_of(run), step, units).row(n);
      if (p_.kind == RecurrentKind::kLstm)
        lstm_cell_derivative(gates.row(n), before(run, 1, place).row(n), inner, d_state.row(n),
                             carried(run, 1) + n * units, scratch.row(n), units);
      else
        gru_cell_derivative(gates.row(n), inner, before(run, 0, place).row(n), d_state.row(n),
                            units);
    }
  });
}

void Recurrent::compute_gradient(const LayerRun& run) {
  go_back(run);
  if (float* gradient = run.gradients[kOfInput])
    linear_gradient(of_inputs(), run.inputs[0], gates_of(run, 0).first, run.adds(kOfInput),
                    gradient);
  if (run.gradients[kOfState]) state_gradient(run);
  if (p_.bias) bias_gradients(run);
}

// A product a step: a whole one would want the states moved by a step.
void Recurrent::state_gradient(const LayerRun& run) const {
  const std::int64_t units = p_.units;
  float* gradient = run.gradients[kOfState];
  if (!run.adds(kOfState)) std::fill_n(gradient, gate_width() * units, 0.0F);
  for (std::int64_t place = 0; place < length_; ++place) {
    const Rows from = before(run, 0, place);
    if (from.first == nullptr) continue;
    each_product(
        run, step_at(place), [&](const Rows& slopes, std::int64_t width, std::int64_t first) {
          sgemm(Transpose::kYes, Transpose::kNo, width, units, batch_, 1, slopes.first,
                slopes.stride, from.first, from.stride, 1, gradient + first * units, units);
        });
  }
}

void Recurrent::bias_gradients(const LayerRun& run) const {
  const std::int64_t rows = batch_ * length_, width = gate_width();
  auto* sums = reinterpret_cast<float*>(run.workspace);
  std::byte* workspace = run.workspace + static_cast<std::size_t>(width) * sizeof(float);
  const auto store = [&](Weight which) {
    float* to = run.gradients[which];
    for (std::int64_t j = 0; to != nullptr && j < width; ++j)
      to[j] = run.adds(which) ? to[j] + sums[j] : sums[j];
  };
  column_sum(rows, width, gates_of(run, 0).first, sums, false, workspace);
  store(kInputBias);
  if (is_gru()) column_sum(rows, p_.units, inner_of(run), sums + plain_width(), false, workspace);
  store(kStateBias);
}

void Recurrent::compute_derivative(const LayerRun& run) {
  if (!gradient_goes_back_) go_back(run);
  if (run.input_derivatives[0])
    linear_derivative(of_inputs(), gates_of(run, 0).first, run.weights[kOfInput],
                      run.input_derivatives[0]);
  for (std::size_t state = 0; given_ && state < states(); ++state)
    if (float* to = run.input_derivatives[1 + state])
      std::copy_n(carried(run, state), state_bytes() / sizeof(float), to);
}

}  // namespace moil
