#include "daemon/rpc/error.h"

namespace moil::daemon {
namespace {

int wire_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kInvalidParams;
    case ErrorCode::kNotFound:
      return -32001;
    case ErrorCode::kAlreadyExists:
      return -32002;
    case ErrorCode::kFailedPrecondition:
      return -32003;
    case ErrorCode::kResourceExhausted:
      return -32004;
    case ErrorCode::kIo:
      return -32005;
    case ErrorCode::kCancelled:
      return -32006;
    case ErrorCode::kUnimplemented:
      return -32007;
    case ErrorCode::kBadData:
      return -32008;
    case ErrorCode::kInternal:
      return kInternalError;
  }
  return kInternalError;
}

}  // namespace

RpcError rpc_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ValidationError& e) {
    return {
        kInvalidParams, e.what(), {{"code", to_string(e.code())}, {"errors", to_json(e.errors())}}};
  } catch (const ErrorWithData& e) {
    Json data = e.data;
    data["code"] = to_string(e.code());
    return {wire_code(e.code()), e.what(), std::move(data)};
  } catch (const Error& e) {
    return {wire_code(e.code()), e.what(), {{"code", to_string(e.code())}}};
  } catch (const std::exception& e) {
    return {kInternalError, e.what(), {{"code", to_string(ErrorCode::kInternal)}}};
  } catch (...) {
    return {kInternalError, "an error without a text", {{"code", to_string(ErrorCode::kInternal)}}};
  }
}

RpcError rpc_error(int code, const std::string& message) {
  return {code, message, {{"code", to_string(ErrorCode::kInvalidArgument)}}};
}

RpcError permission_denied(const std::string& message) {
  return {-32009, message, {{"code", "permission_denied"}}};
}

}  // namespace moil::daemon
