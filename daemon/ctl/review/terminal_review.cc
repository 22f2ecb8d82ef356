#include "daemon/ctl/review/terminal_review.h"

#include <sysexits.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "daemon/client/desk.h"
#include "daemon/client/model_desk.h"

namespace moil::daemon::ctl {
namespace {

constexpr const char* kHelp =
    "answer with a label, or with the number before one; Enter: pass over; u: undo; q: end\n"
    "*: what the model proposes";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_number(const std::string& label) {
  return label.size() == 1 && label[0] >= '0' && label[0] <= '9';
}

struct ShownSample {
  std::string digest, name;
  std::vector<std::string> proposals;
};

class Review {
 public:
  Review(Session& session, const std::string& model, std::istream& in)
      : session_(session), model_(model), desk_(session), in_(in) {}

  int run() {
    load();
    if (samples_.empty()) {
      session_.console.print("there are no unlabelled samples");
      return EX_OK;
    }
    session_.console.print(kHelp);
    while (at_ < samples_.size() && ask()) continue;
    session_.console.print(std::to_string(decided_) + " of " + std::to_string(samples_.size()) +
                           " labelled");
    return EX_OK;
  }

 private:
  void load() {
    for (Json after = 0; after.is_number();) {
      const Json page = desk_.samples(true, after.get<std::int64_t>());
      for (const Json& sample : page["samples"])
        samples_.push_back({sample["digest"], sample["name"], {}});
      after = page["next"];
    }
    labels_ = desk_.labels()["labels"].get<std::vector<std::string>>();
    if (!samples_.empty()) load_proposals();
    numbered_ = std::ranges::none_of(labels_, is_number);
    for (const ShownSample& sample : samples_)
      numbered_ = numbered_ && std::ranges::none_of(sample.proposals, is_number);
  }

  void load_proposals() {
    session_.console.note("the model is asked what they are ...");
    Json said;
    try {
      said = proposals(session_, model_)["suggestions"];
    } catch (const std::exception& error) {  // there may be no model yet
      return session_.console.note(std::string("the model proposes nothing: ") + error.what());
    }
    std::map<std::string, std::vector<std::string>> found;
    for (const Json& sample : said) {
      std::vector<std::string>& labels = found[sample["digest"]];
      labels.push_back(sample["label"]);
      for (const Json& other : sample["others"]) labels.push_back(other);
    }
    for (ShownSample& sample : samples_) sample.proposals = found[sample.digest];
  }

  // Those that the model proposes, then those with most samples.
  std::vector<std::string> choices(const ShownSample& sample) const {
    constexpr std::size_t kMost = 9;
    std::vector<std::string> all = sample.proposals;
    for (const std::string& label : labels_)
      if (std::ranges::find(all, label) == all.end()) all.push_back(label);
    all.resize(std::min(all.size(), kMost));
    return all;
  }

  // Whether to go on.
  bool ask() {
    const ShownSample& sample = samples_[at_];
    const std::vector<std::string> offered = choices(sample);
    std::string line = std::to_string(at_ + 1) + "/" + std::to_string(samples_.size()) + "  " +
                       printable(sample.name.empty() ? sample.digest : sample.name);
    for (std::size_t i = 0; i < offered.size(); ++i)
      line += "  " + key(i) + printable(offered[i]) + (i < sample.proposals.size() ? "*" : "");
    session_.console.print(line);
    std::string answer;
    return std::getline(in_, answer) && take(trimmed(answer), offered);
  }

  bool take(const std::string& answer, const std::vector<std::string>& offered) {
    if (answer == "q") return false;
    if (answer == "u") return undo();
    if (!answer.empty()) return decide(named(answer, offered));
    ++at_;
    return true;
  }

  std::string key(std::size_t place) const {
    return numbered_ ? std::to_string(place + 1) + ": " : "";
  }

  std::string named(const std::string& answer, const std::vector<std::string>& offered) const {
    if (!numbered_) return answer;
    std::size_t number = 0;
    const char* const end = answer.data() + answer.size();
    const auto read = std::from_chars(answer.data(), end, number);
    const bool whole = read.ec == std::errc() && read.ptr == end;
    return whole && number >= 1 && number <= offered.size() ? offered[number - 1] : answer;
  }

  bool decide(const std::string& label) {
    try {
      desk_.decide({{{samples_[at_].digest}, {label}, label == asked_}});
    } catch (const ReplyError& error) {
      const Json other = error.error().value("/data/other_case"_json_pointer, Json());
      if (other.is_object()) return ask_again(label, other["label"]);
      session_.console.note(error.error().value("message", ""));
      return true;
    }
    history_.push_back(at_++);
    ++decided_;
    if (std::ranges::find(labels_, label) == labels_.end()) labels_.insert(labels_.begin(), label);
    numbered_ = numbered_ && !is_number(label);
    return true;
  }

  // The same name once more makes a label that is new.
  bool ask_again(const std::string& label, const std::string& there) {
    asked_ = label;
    session_.console.note("there is a label \"" + printable(there) + "\"; \"" + printable(label) +
                          "\" once more makes another one");
    return true;
  }

  bool undo() {
    if (history_.empty()) {
      session_.console.note("there is nothing to undo");
      return true;
    }
    desk_.undo();
    at_ = history_.back();
    history_.pop_back();
    --decided_;
    return true;
  }

  Session& session_;
  const std::string model_;
  Desk desk_;
  std::istream& in_;
  std::vector<ShownSample> samples_;
  std::vector<std::string> labels_;
  std::vector<std::size_t> history_;  // places of what was decided
  std::size_t at_ = 0, decided_ = 0;
  std::string asked_;     // the label that differs from another one in case alone
  bool numbered_ = true;  // unless labels are numbers themselves
};

}  // namespace

int review_on_terminal(Session& session, const std::string& model, std::istream& in) {
  return Review(session, model, in).run();
}

}  // namespace moil::daemon::ctl
