// The makers of the layers that the engine brings along; the file of each says what it computes.
//
// Behind each: its type, and its properties with what they are if they are left out. A maker throws
// kInvalidArgument naming the layer and the property. factory.cc alone calls them.
#pragma once

#include <memory>
#include <string>

#include "engine/kernels/rows/activation.h"
#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

using MakeLayer = std::unique_ptr<Layer>(const std::string& name, const Properties& properties);

MakeLayer make_add;                    // add
MakeLayer make_add_parameter;          // add_parameter: dims, trained = true
MakeLayer make_average_pool;           // average_pool: kernel, stride = kernel, padding = 0,
                                       // ceil_mode = false, count_include_pad = true
MakeLayer make_batch_norm;             // batch_norm: epsilon = 1e-5, momentum = 0.1, frozen = false
MakeLayer make_clip;                   // clip: min, max
MakeLayer make_concat;                 // concat: axis = 1
MakeLayer make_conv1d;                 // conv1d: out_channels, kernel, stride = 1, padding = 0,
                                       // dilation = 1, groups = 1, bias = true, activation = "none"
MakeLayer make_conv2d;                 // conv2d: out_channels, kernel, stride = 1, padding = 0,
                                       // dilation = 1, groups = 1, bias = true, activation = "none"
MakeLayer make_dropout;                // dropout: rate = 0.5
MakeLayer make_embedding;              // embedding: rows, width, deviation
MakeLayer make_flatten;                // flatten
MakeLayer make_exp;                    // exp
MakeLayer make_fully_connected;        // fully_connected: units, bias = true, activation = "none"
MakeLayer make_global_average_pool;    // global_average_pool: keep_dims = false
MakeLayer make_gru;                    // gru: units, bias = true, reverse = false,
                                       // sequence = true, state = false, unroll = false
MakeLayer make_gru_cell;               // gru_cell: units, bias = true
MakeLayer make_huber;                  // huber: delta = 1
MakeLayer make_identity;               // identity
MakeLayer make_layer_norm;             // layer_norm: epsilon = 1e-5, affine = true
MakeLayer make_local_response_norm;    // local_response_norm: size, alpha = 1e-4, beta = 0.75,
                                       // bias = 1
MakeLayer make_location_attention;     // location_attention: filters = 32, kernel = 31
MakeLayer make_log;                    // log
MakeLayer make_log_softmax;            // log_softmax
MakeLayer make_lstm;                   // lstm: units, bias = true, reverse = false,
                                       // sequence = true, state = false, unroll = false
MakeLayer make_lstm_cell;              // lstm_cell: units, bias = true
MakeLayer make_matmul;                 // matmul: transpose_b = false
MakeLayer make_max_pool;               // max_pool: kernel, stride = kernel, padding = 0,
                                       // dilation = 1, ceil_mode = false
MakeLayer make_maximum;                // maximum
MakeLayer make_mean_squared_error;     // mse
MakeLayer make_minimum;                // minimum
MakeLayer make_multi_head_attention;   // multi_head_attention: heads, causal = false, bias = true,
                                       // head_by_head = true
MakeLayer make_multi_out;              // multi_out: outputs
MakeLayer make_multiply;               // multiply
MakeLayer make_multiply_parameter;     // multiply_parameter: dims, trained = true
MakeLayer make_pad;                    // pad: begin, end, value = 0
MakeLayer make_permute;                // permute: order, layout
MakeLayer make_positional_encoding;    // positional_encoding: scale = 1
MakeLayer make_power;                  // power: exponent = 2
MakeLayer make_prelu;                  // prelu: shared = false
MakeLayer make_prepend_parameter;      // prepend_parameter: count = 1
MakeLayer make_reciprocal;             // reciprocal
MakeLayer make_reshape;                // reshape: dims, layout
MakeLayer make_resize;                 // resize: size, mode = "nearest",
                                       // coordinates = "asymmetric", rounding = "floor"
MakeLayer make_rnn;                    // rnn: units, nonlinearity = "tanh", bias = true,
                                       // reverse = false, sequence = true, state = false,
                                       // unroll = false
MakeLayer make_rnn_cell;               // rnn_cell: units, nonlinearity = "tanh", bias = true
MakeLayer make_scale;                  // scale: factor = 1, offset = 0
MakeLayer make_scheduled_sampling;     // scheduled_sampling: rate = 0
MakeLayer make_sigmoid_cross_entropy;  // sigmoid_cross_entropy: reduction = "mean"
MakeLayer make_slice;                  // slice: axis, start = 0, length, step = 1
MakeLayer make_softmax;                // softmax
MakeLayer make_softmax_cross_entropy;  // softmax_cross_entropy: reduction = "mean"
MakeLayer make_stack;                  // stack
MakeLayer make_unstack;                // unstack

// Each kind is a type of its own, to_string(kind). leaky_relu: slope = 0.01; elu: alpha = 1.
std::unique_ptr<Layer> make_activation(ActivationKind kind, const std::string& name,
                                       const Properties& properties);

}  // namespace moil
