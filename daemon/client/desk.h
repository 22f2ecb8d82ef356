// What a review of labels does with moild, whoever shows it: samples are listed, get labels, and
// get their labels back. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/client/session.h"

namespace moil::daemon {

class Desk {
 public:
  explicit Desk(ClientSession& session);  // which outlives it

  // A part of the samples, in the order in which they were added, those behind the id `after` (0:
  // from the first): {"samples": [{"id", "digest", "name", "labels"}], "next"}, next: what to go on
  // after, or null.
  [[nodiscard]] Json samples(bool unlabelled, std::int64_t after);
  // Samples with their "digest" and "labels" that were listed otherwise: by doubts().
  void take_note(const Json& samples);
  // {"labels": names, those with most samples first, "unlabelled", "labelled": how many samples}
  [[nodiscard]] Json labels();
  struct Decision {
    std::vector<std::string> digests;
    std::vector<std::string> labels;  // that they have then; none: they are unlabelled
    bool as_spelled = false;          // a label that differs in case alone is another one
  };
  // Samples get labels in place of those they have: {"changed": [{"digest", "labels"}]}. Decisions
  // that are made together are taken back together. kNotFound, and nothing is changed, for a sample
  // that was not listed.
  Json decide(const std::vector<Decision>& decisions);
  // Takes the last decision back that is not taken back yet, by whomever, out of moild's list of
  // steps (label.undo): as decide(), with the labels that the samples have again. A label that came
  // with the decision goes with it. Nothing is changed if there is none. What others did stays.
  Json undo();

 private:
  using Labels = std::vector<std::string>;
  using Before = std::map<std::string, Labels>;  // by digest
  struct Made {
    Before before;
    std::string step;  // as moild knows it
  };

  Before labels_of(const std::vector<Decision>& decisions) const;
  Labels assign(const Decision& decision, const std::string& step);
  Json taken_back(const std::string& step);

  ClientSession& session_;
  // What is decided together is one step of moild's, too.
  const std::string name_;
  std::size_t step_ = 0;
  Before known_;  // the labels of samples as they are, as far as they were listed
  std::vector<Made> made_;
};

}  // namespace moil::daemon
