#include <cstdlib>
#include <ctime>
#include <string>

#include "daemon/spec/calendar.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using daemon::Calendar;

// A zone whose clocks change; by its rule, so that no table of zones is needed.
void use_summer_time() {
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ::tzset();
}

void check_from(const Calendar& calendar, std::int64_t after) {
  const auto next = calendar.next(after);
  if (!next) return;
  require(*next > after, "the next moment lies ahead");
  require(calendar.next(*next - 1) == next, "a moment is found from the second before it");
  require(calendar.next(after + (*next - after) / 2) == next || *next - after < 2,
          "and from half way to it");
  if (const auto later = calendar.next(*next)) require(*later > *next, "moments do not repeat");
}

}  // namespace

bool try_calendar(std::span<const std::uint8_t> bytes) {
  return accepts([&] {
    static const bool summer_time = (use_summer_time(), true);
    (void)summer_time;
    const Calendar calendar{std::string(text_of(bytes))};
    require(Calendar(calendar.text()).text() == calendar.text(), "an expression is its text");
    // The beginning; an evening; the hour that is skipped, the one that comes twice; a leap day's
    // eve; near the last year.
    for (const std::int64_t after :
         {std::int64_t{0}, std::int64_t{1'700'000'000}, std::int64_t{1'711'846'799},
          std::int64_t{1'729'987'201}, std::int64_t{1'709'150'400}, std::int64_t{7'258'000'000}})
      check_from(calendar, after);
  });
}

}  // namespace moil::test
