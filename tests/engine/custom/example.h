// The worked example of docs/custom-layers.md: a layer and an optimizer as a program adds them.
#pragma once

namespace example {

void register_learned_clip();
void register_lion();

}  // namespace example
