// A sample in a request: base64 in it, or a descriptor sent along with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/rpc/method.h"

namespace moil::daemon {

struct SampleParams {
  std::optional<std::string> content;  // base64
  std::optional<int> file;             // index of the descriptors sent along
};
const Fields<SampleParams>& fields_of(const SampleParams*);

// A request's limit; what is answered of so many fits into a reply.
inline constexpr std::size_t kMostSamples = 10'000;

// Throws ValidationError, naming as /MEMBER/i every sample that has not one of both, or a file that
// did not come along; or /MEMBER if there are too many.
void check_samples(const std::string& member, const std::vector<SampleParams>& samples,
                   const Call& call);

// The same of the only sample of a request, whose members stand in the request itself.
void check_sample(const SampleParams& sample, const Call& call);

// What a checked sample holds, at most data::kMaxSampleBytes; throws as read_descriptor.
std::vector<std::uint8_t> content_of(const SampleParams& sample, const Call& call);
// The same as a descriptor that a worker may inherit: the one sent along (which `call` keeps and
// must outlive the use), or memory that `held` owns.
int descriptor_of(const SampleParams& sample, const Call& call, std::vector<UniqueFd>& held);

}  // namespace moil::daemon
