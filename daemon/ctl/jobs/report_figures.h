// Figures of a job's result, as its printed report and its page both tell them. Absent members and
// members of another type are left out. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/ctl/console.h"
#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// By JSON pointer: null if there is nothing; no number.
[[nodiscard]] Json at(const Json& document, const char* pointer);
[[nodiscard]] std::optional<double> number_at(const Json& document, const char* pointer);

// "scores" of the result's details: an object.
[[nodiscard]] Json scores_of(const Json& details);
// What was trained, on which samples.
[[nodiscard]] Rows trained_rows(const Json& details);
// Labels that rows were made for, and how many of their samples such rows tell; those that the
// model calls by a name of its own, each with the command that maps it.
[[nodiscard]] Rows new_label_rows(const Json& details);
// Labels whose recordings are mostly silent.
[[nodiscard]] Rows silent_label_rows(const Json& details);
// What samples are said not to be, and nobody knows.
[[nodiscard]] Rows denied_in_vain_rows(const Json& details);
[[nodiscard]] Rows cache_rows(const Json& cache);
// Samples that the night did without, and why.
[[nodiscard]] Rows left_out_rows(const Json& details);
// Samples in the label store that the model cannot read, by media type.
[[nodiscard]] Rows other_media_rows(const Json& details);
// Who computed training and feature maps; empty if the CPU alone did and was meant to.
[[nodiscard]] std::string processors_words(const Json& details);

// "1 held out: no verdict", of a side ("local", "global") that so few samples judge that one of
// them would change it all; else empty. result: with its details.
[[nodiscard]] std::string no_verdict(const Json& result, const std::string& side);
// "3 unreadable samples"
[[nodiscard]] std::string unreadable_heading(const Json& details);
// Samples that the night did without: those that cannot be read.
[[nodiscard]] std::size_t left_out_count(const Json& details);
// Without those that only say that something is not known.
[[nodiscard]] Rows known_rows(Rows rows);

// What the device took while the job ran.
struct EnergyWords {
  std::string amount;  // "5.3 kJ"
  std::string source;  // "processor package"
};
// Nothing if that is not known.
[[nodiscard]] std::optional<EnergyWords> energy_words(const Json& details);
// Seconds, in the order in which stages ran; what is not known comes last.
[[nodiscard]] std::vector<std::pair<std::string, double>> stages_in_order(const Json& stages);
// Bytes, by what they are of.
[[nodiscard]] std::vector<std::pair<std::string, double>> memory_figures(const Json& memory);

}  // namespace moil::daemon::ctl
