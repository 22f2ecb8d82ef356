// What is asked of everything that reads strangers' bytes, whatever the bytes: a reader a function.
//
// Each returns whether the bytes were accepted. A moil::Error that says what is wrong is a right
// answer, too; anything else, and a broken promise, ends the program. One thread at a time.
#pragma once

#include <cstdint>
#include <span>

namespace moil::test {

// Reads and imports an ONNX file. The model must survive JSON and an export, and small networks are
// planned and computed once.
bool try_onnx(std::span<const std::uint8_t> bytes);
// The same of a TensorFlow Lite file.
bool try_tflite(std::span<const std::uint8_t> bytes);

// Decodes a photo as what it begins as, within small limits: an image that is whole and within
// them.
bool try_image(std::span<const std::uint8_t> bytes);

// A sound: how many patches it has, and the same patch each time, of numbers; and a piece of it.
bool try_sound(std::span<const std::uint8_t> bytes);

// What a client sends before it closes its side, through a real connection and dispatcher: every
// request has the replies that the protocol promises it.
bool try_request(std::span<const std::uint8_t> bytes);

// A configuration means the same after it was written with all its defaults.
bool try_config(std::span<const std::uint8_t> bytes);

// A job description, and one of a recurring night: as written, they are read as the same.
bool try_job(std::span<const std::uint8_t> bytes);
bool try_schedule(std::span<const std::uint8_t> bytes);

// A calendar expression: its next moment lies ahead, and is the same seen from any moment between.
bool try_calendar(std::span<const std::uint8_t> bytes);

// A whole safetensors file, as weights and as data: every tensor within the file, and the weights
// the same after they were written.
bool try_safetensors(std::span<const std::uint8_t> bytes);

// A feature map as the cache stores it: key, then value. What was written is found again, and no
// single changed byte goes unseen.
bool try_value(std::span<const std::uint8_t> bytes);

// A tar archive in each way that one is read: in place, as folders of classes, as one sample of
// several files.
bool try_tar(std::span<const std::uint8_t> bytes);

// Numbers as text: a sample, a table of records, digits. The numbers survive writing.
bool try_csv(std::span<const std::uint8_t> bytes);

// NumPy's files; the numbers survive writing.
bool try_npy(std::span<const std::uint8_t> bytes);

}  // namespace moil::test
