// The log in systemd's journal. spdlog's own sink for it writes a message and a priority; this one
// adds what the line is about (job_log.h):
//
//   JOB_ID, MODEL, STAGE   of the job
//   JOB_EVENT              the line says what a stored event of that kind says (job.get)
//   MOILD_STATE            the state folder, which tells one moild's jobs from another's
//
// A line that the journal does not take goes to stderr. Any thread.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <string>

namespace moil::daemon {

class JournalSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JournalSink(std::string state_folder);

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  const std::string state_folder_;
};

}  // namespace moil::daemon
