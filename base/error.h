// The one error type of the project.
//
// Every library throws moil::Error; the daemon turns it into a JSON-RPC error and the command line
// into one line on stderr and an exit code from sysexits. A message says where, what was found,
// what was expected and, if it is known, what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace moil {

enum class ErrorCode {
  kInvalidArgument,     // the caller's request is wrong (a field, a shape, an option)
  kBadData,             // a file's content is wrong (truncated image, weights that do not fit)
  kNotFound,            // a file, job, label or model that is not there
  kAlreadyExists,       // a second daemon, a duplicate name
  kFailedPrecondition,  // legal in itself, but not in the present state
  kResourceExhausted,   // quota, memory budget, disk
  kIo,                  // the system refused: permission, read or write error
  kCancelled,           // asked to stop
  kUnimplemented,       // known, but not supported
  kInternal,            // a bug of ours
};

// "invalid_argument", ...: stable names, used on the wire.
std::string_view to_string(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// An Error whose text ends in strerror(errno_value); the code follows the errno
// (ENOENT: kNotFound, ENOSPC and ENOMEM: kResourceExhausted, otherwise kIo).
Error system_error(const std::string& what, int errno_value);

}  // namespace moil
