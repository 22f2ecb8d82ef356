// The operators that are written, by the format's numbers.
#pragma once

#include "engine/io/tflite/export/file_maker.h"

namespace moil::tflite::ops {

inline constexpr OperatorCode kAdd{0, 11}, kAveragePool{1, 5}, kConcatenation{2, 10},
    kConvolution{3, 1}, kDepthwise{4, 2}, kDilatedDepthwise{4, 2, 2}, kFullyConnected{9, 8},
    kFullyConnectedRows{9, 8, 5}, kResponseNorm{13, 13}, kLogistic{14, 0}, kMaxPool{17, 5},
    kMul{18, 21}, kRelu{19, 0}, kReluN1To1{20, 0}, kRelu6{21, 0}, kReshape{22, 17},
    kResizeBilinear{23, 15, 3}, kSoftmax{25, 9}, kTanh{28, 0}, kPad{34, 22}, kGather{36, 23},
    kTranspose{39, 26}, kMean{40, 27}, kSub{41, 28}, kDiv{42, 29}, kStridedSlice{45, 32},
    kExp{47, 33}, kLogSoftmax{50, 36}, kCast{53, 37}, kPrelu{54, 0}, kMaximum{55, 39},
    kMinimum{57, 39}, kLess{58, 41}, kNeg{59, 42}, kPadValue{60, 43}, kLessEqual{63, 46},
    kLog{73, 0}, kSum{74, 27}, kSqrt{75, 0}, kPow{78, 56}, kReduceMax{82, 27}, kLogicalAnd{86, 62},
    kReduceMin{89, 27}, kSquare{92, 66}, kResizeNearest{97, 74, 3}, kLeakyRelu{98, 75},
    kAbs{101, 78}, kReverse{105, 81}, kElu{111, 0}, kHardSwish{117, 91}, kSelect{123, 98},
    kBatchMatMul{126, 101}, kGelu{150, 116};

}  // namespace moil::tflite::ops
