// What is asked of the ONNX reader and importer, whatever the bytes.
#pragma once

#include <cstdint>
#include <span>

namespace moil::test {

// Reads and imports the bytes. Where that succeeds, the model must survive JSON and an export, and
// small networks are planned and computed once. A moil::Error with a message is a right answer,
// too; anything else ends the program.
void try_onnx(std::span<const std::uint8_t> bytes);

}  // namespace moil::test
