// JSON-RPC errors, and the one place where errors of the program become errors of the wire.
//
//   invalid_argument -32602 (with data.errors[] {pointer, message} if fields are wrong)
//   not_found -32001   already_exists -32002   failed_precondition -32003
//   resource_exhausted -32004   io -32005   cancelled -32006   unimplemented -32007
//   bad_data -32008   internal -32603   permission_denied -32009
// Every error carries data.code, the stable name of moil::ErrorCode; permission_denied alone is of
// the wire and has none there. Thread-safe.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/error.h"
#include "daemon/json/fields.h"

namespace moil::daemon {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data;  // null: none
};

// An error whose data has members beside the code.
struct ErrorWithData : Error {
  ErrorWithData(const Error& error, Json members) : Error(error), data(std::move(members)) {}
  Json data;
};

RpcError rpc_error(const std::exception_ptr& error);
RpcError rpc_error(int code, const std::string& message);
RpcError permission_denied(const std::string& message);

}  // namespace moil::daemon
