#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace moil {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kBadData:
      return "bad_data";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kAlreadyExists:
      return "already_exists";
    case ErrorCode::kFailedPrecondition:
      return "failed_precondition";
    case ErrorCode::kResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnimplemented:
      return "unimplemented";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error system_error(const std::string& what, int errno_value) {
  ErrorCode code = ErrorCode::kIo;
  if (errno_value == ENOENT) code = ErrorCode::kNotFound;
  if (errno_value == ENOSPC || errno_value == ENOMEM || errno_value == EDQUOT) {
    code = ErrorCode::kResourceExhausted;
  }
  return Error(code, what + ": " + std::generic_category().message(errno_value));
}

}  // namespace moil
