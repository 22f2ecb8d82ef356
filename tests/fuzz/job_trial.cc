#include "daemon/json/parse.h"
#include "daemon/spec/job_spec.h"
#include "daemon/spec/recurring_spec.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using namespace daemon;

constexpr int kNesting = 64;  // of a request

}  // namespace

bool try_job(std::span<const std::uint8_t> bytes) {
  return accepts([&] {
    const Json document = parse_json(text_of(bytes), kNesting);
    (void)stored_job_spec(document);  // whatever another build took for one
    const JobSpec spec = job_spec_from_json(document);
    const Json written = parse_json(to_line(to_json(spec)), kNesting);
    require(job_spec_from_json(written) == spec, "a job is read as it was written");
    require(stored_job_spec(written) == spec, "also by the worker");
  });
}

bool try_schedule(std::span<const std::uint8_t> bytes) {
  return accepts([&] {
    const Json document = parse_json(text_of(bytes), kNesting);
    const auto spec = read_fields<RecurringSpec>(document, "the schedule");
    const bool complete = check_recurring(spec).empty();
    const Json written = parse_json(to_line(to_json(spec)), kNesting);
    require(stored_recurring_spec(written) == spec, "a schedule is read as it was written");
    require(calendar_of(spec).has_value() == (spec.every != "night"), "a calendar that is checked");
    if (!complete) throw Error(ErrorCode::kInvalidArgument, "only_if asks for nothing");
  });
}

}  // namespace moil::test
