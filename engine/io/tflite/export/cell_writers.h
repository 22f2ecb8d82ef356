// How layers are written of which the format has another form than ONNX: for export_onnx().
#pragma once

#include "engine/io/onnx/export/layer_writer.h"

namespace moil::tflite {

// A step of a recurrent layer, in products and gates.
void write_lstm_cell(onnx::LayerWriter& w);
void write_gru_cell(onnx::LayerWriter& w);
void write_rnn_cell(onnx::LayerWriter& w);

}  // namespace moil::tflite
