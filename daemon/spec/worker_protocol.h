// How the daemon and its worker speak. The daemon starts one of
//
//   moil-worker run    --job-file STATE/jobs/ID/job.json --state-dir STATE
//   moil-worker plan --reply DESCRIPTOR --job-file FILE --state-dir STATE [--picture] [--timing]
//                    [--processors METHOD]
//                    [--check | --audit N | --suggest N | --meanings]  (the last: of the labels)
//   moil-worker import --reply DESCRIPTOR --source FOLDER --model NAME --version N
//                      --state-dir STATE [--file NAME=DESCRIPTOR ...]
//   moil-worker predict --reply DESCRIPTOR --model-folder FOLDER --top N --image DESCRIPTOR
//                       [--image DESCRIPTOR ...] [--timeline]
//   moil-worker listen --reply DESCRIPTOR --model-folder FOLDER --sound=DESCRIPTOR --name=NAME
//                      [--every=SECONDS] [--rate=N] [--threshold=P | --false-accepts=N]
//                      [--label=LABEL ...]
//   moil-worker preview --reply DESCRIPTOR --size PIXELS --image DESCRIPTOR [--image ...]
//   moil-worker try --reply DESCRIPTOR --image DESCRIPTOR [--image ...]
//   moil-worker cut --reply DESCRIPTOR --recording=DESCRIPTOR --piece=DESCRIPTOR --name=NAME
//                   --from=SECONDS --to=SECONDS
//   moil-worker doctor --reply DESCRIPTOR
//   moil-worker backup --reply DESCRIPTOR --state-dir STATE --scratch STATE/backup-N
//                      --to DESCRIPTOR
//   moil-worker restore --reply DESCRIPTOR --state-dir STATE --from DESCRIPTOR
//   moil-worker diff --reply DESCRIPTOR --model-folder FOLDER --other FOLDER
//   moil-onnx export-to --reply DESCRIPTOR --model-folder FOLDER --descriptor DESCRIPTOR
//                       [--format onnx|tflite]
//
// with stdin from /dev/null and stderr to the log. The worker writes events to stdout, one JSON
// object a line with a member "event", of at most kMostLineBytes (a longer line is skipped):
//
//   {"event":"progress","stage":"train","done":40,"total":57,"epoch":3,"epochs":10,"loss":0.31,
//    "seconds_left":12.5}                        as often as it likes; the daemon keeps the latest,
//                                                of what is said of labels it tells who asked
//   {"event":"curve","epoch":3,"seconds":8.2,"loss":0.31,"global":0.97,"local":0.95}    an epoch
//   {"event":"note","message":"predicted peak 41 MiB"}   kept with the job and shown to watchers
//   {"event":"likenesses","samples":[["d41d...","0f5a..."],["98f0...",null]]}
//                                                        digests of samples, and what they look
//                                                        like (null: nothing): for the label store
//   {"event":"uses","samples":["d41d...","98f0..."],"more":false}
//                                                        digests of samples that are about to be
//                                                        used, for the label store; more: they are
//                                                        told as one with those of the next line
//   {"event":"suggestions","suggestions":[{"digest":"d41d...","proposals":[...],...}]}
//                                                        what label.suggest has found so far, for
//                                                        who asked
//   {"event":"heard","time":12.4,"label":"marvin","probability":0.97}
//                                                        what listening hears, at once, for who
//                                                        asked
//   {"event":"result"}                                   the last line of what was done
//   {"event":"error","code":"bad_data","message":"...","errors":[{"pointer","message"}]}
//                                                        the last line of what was not; errors:
//                                                        if fields of the job are wrong
//
// What was done may be of any length, so it travels beside the lines: a JobResult is in
// jobs/ID/result.json (job_result.h); an ImportResult, or the reply of job.plan, model.predict,
// listen, label.preview, try, doctor, model.diff, system.backup or restore, is written as JSON to
// the descriptor --reply, and so is what is to be said of the file that moil-onnx wrote to
// --descriptor, or of the piece in --piece.
//
// Promotion: the worker writes its result, and models/NAME/.incoming-VERSION/, fsyncs files and
// folder and renames it to models/NAME/VERSION/ (rename_durable); the daemon records and activates
// it when the worker is gone, whatever became of it, or when the daemon is started again.
//
// Signals: SIGTERM asks for a checkpoint and exit code kExitCheckpointed; the job is resumed in a
// later window. SIGKILL may come at any time; the job is resumed from its last checkpoint. A worker
// that found no room on the disk says so in its error and exits with kExitNoRoom: the job waits for
// room and is resumed from its last checkpoint, and no attempt is counted against it. An error
// with code invalid_argument, bad_data, not_found, failed_precondition or unimplemented is final;
// any other error or death is retried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/spec/job_spec.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {

// sysexits.h, as far as the worker uses it.
inline constexpr int kExitDone = 0;       // after a result
inline constexpr int kExitUsage = 64;     // EX_USAGE
inline constexpr int kExitBadData = 65;   // EX_DATAERR
inline constexpr int kExitSoftware = 70;  // EX_SOFTWARE
inline constexpr int kExitNoRoom = 74;    // EX_IOERR: the disk is full, resume me when it is not
inline constexpr int kExitCheckpointed = 75;  // EX_TEMPFAIL: stopped as asked, resume me

// The limits of an event's line, its newline included, and of a text in it, which is cut.
inline constexpr std::size_t kMostLineBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostTextBytes = 4096;
// The limit of the JSON that either writes for the other.
inline constexpr int kMostNesting = 64;
inline constexpr std::size_t kMostLikenesses = 500;  // in a line, and uses

// A version that was rolled back from, and the digest of its weights.
struct WithdrawnWeights {
  std::int64_t version = 0;
  std::string weights;
};

// jobs/ID/job.json. Written before the first attempt; the same for every attempt but for what the
// guard compares with (anchor_version, withdrawn), so that a resumed job starts from the same model
// and writes the same version.
struct JobFile {
  std::int64_t id = 0;
  std::int64_t base_version = 0;       // models/MODEL/BASE_VERSION is what the night starts from
  std::int64_t version = 0;            // models/MODEL/VERSION is what it writes
  std::int64_t anchor_version = 0;     // that the guard holds global accuracy against; 0: none
  int threads = 1;                     // spec.threads if given
  std::int64_t cache_quota_bytes = 0;  // of the feature cache; 0: none
  std::int64_t leave_free_bytes = 0;   // if less is free on the disk, the cache takes no more
  std::vector<WithdrawnWeights> withdrawn;  // what must not be promoted again
  JobSpec spec;
};

enum class Stage {
  kScenes,
  kMix,
  kChoose,
  kMeasure,
  kCache,
  kDistill,
  kImprint,
  kProfile,
  kTrain,
  kJudge,
  kPromote,
  kBackup,  // of no night; in bytes, as the next
  kRestore
};

struct Progress {
  Stage stage = Stage::kMix;
  std::int64_t done = 0;  // of this stage; samples, steps or files
  std::int64_t total = 0;
  std::optional<int> epoch;  // from 1
  std::optional<int> epochs;
  std::optional<double> loss;
  std::optional<double> seconds_left;  // of the whole job, once it is steady
};

// One epoch of training. `global` and `local` are the headline metric of the model's task, measured
// on held-out samples: a classifier's accuracy, a fraction.
struct CurvePoint {
  int epoch = 0;
  double seconds = 0;  // since training began, all attempts together
  double loss = 0;
  std::optional<double> global;
  std::optional<double> local;
  bool is_fraction = true;
};

struct JobResult {
  bool promoted = false;  // false: the guard kept the new model back
  std::string reason;     // one sentence: why the model was (not) promoted
  std::optional<double> global_before, global_after;
  std::optional<double> local_before, local_after;
  // The model's task says what the four above are ("accuracy", "AUC", "R2"), in percent or not. Of
  // global samples whose labels are a model's own answers it is "agreement".
  std::string metric = "accuracy", global_metric = "accuracy";
  bool is_fraction = true;
  int epochs = 0;
  double seconds = 0;             // all stages, all attempts together
  Json details = Json::object();  // further figures: memory, cache, timing of the stages
};

struct ImportResult {
  std::string summary;            // one line for people: "mobilenet-v2, 3.4 M weights, 7 labels"
  Json details = Json::object();  // layers, labels, bytes
};

const Fields<JobResult>& fields_of(const JobResult*);
Json to_json(const JobFile& file);
// Of an attempt of an earlier build, too: fields of its description that are no more are left out.
JobFile job_file_from_json(const Json& document);
std::string to_string(Stage stage);
// Whether no attempt will do better, by an error event's code.
bool is_final(const std::string& code);
// The samples of a likenesses event. kBadData.
std::vector<data::SampleLikeness> likenesses_from_json(const Json& event);
// Adds the samples of a uses event to those of the lines before. Whether they are all. kBadData.
[[nodiscard]] bool add_uses(const Json& event, std::vector<data::Digest>& samples);

// Writes events to a descriptor (the worker's stdout), each line in one write. Not thread-safe.
// A reader that went away is ignored here: the daemon's death kills the worker by itself.
class EventWriter {
 public:
  // -1: nobody reads them.
  explicit EventWriter(int descriptor) : descriptor_(descriptor) {}

  void progress(const Progress& progress);
  void curve(const CurvePoint& point);
  void note(const std::string& message);
  // At most kMostLikenesses.
  void likenesses(std::span<const data::SampleLikeness> samples);
  void uses(std::span<const data::Digest> samples);
  // Of label.suggest, some at a time; their line is short enough.
  void suggestions(const Json& some);
  void heard(double time, const std::string& label, double probability);
  void result();  // it is where worker_protocol.h says
  void error(const Error& error);

 private:
  void write(const char* event, Json body);

  int descriptor_;
};

// Writes the reply of a worker that is asked one thing. Throws kIo.
void write_reply(int descriptor, const Json& reply);
Json to_json(const ImportResult& result);

}  // namespace moil::daemon
