// What a network takes of samples' views, made of their files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "daemon/night/data/origins.h"
#include "daemon/night/data/sample_view.h"
#include "datasets/kinds/kind.h"

namespace moil::night {

// Decodes and prepares in parallel, within origins.room; each result depends on nothing but the
// sample and its view. Writes Kind::floats() a view to `out`. What each view failed with, if it did
// (kBadData: other errors are rethrown), else empty; the row is zeros then. Throws SampleForgotten.
std::vector<std::string> make_views(const Origins& origins, const data::Kind& kind, bool may_flip,
                                    std::span<const SampleView> wanted, float* out);

}  // namespace moil::night
