#include "daemon/pretrain/arguments.h"

namespace moil::pretrain {
namespace {

void add_selection(cli::Command command, SelectionOptions& s) {
  command
      .add_option("--data=PATH", s.data,
                  "Digits CSV, a table as CSV, or a folder or tar of images by class")
      .required();
  command.add_option("--format", s.format,
                     "digits-csv or image-folder; by the file's name if left out");
  command.add_option("--label-column", s.label_column,
                     "The data is a table, a record a line: this column names the classes");
  command
      .add_option(
          "--ids=COLUMN", s.ids,
          "Of a table: columns that hold ids, as of a user and an item, and are taken alone; "
          "if left out, all, if all are called so (id, userId, movie_id, user, item)")
      .delimiter(',');
  command.add_option("--classes=NAME", s.classes, "Classes to use, in this order").delimiter(',');
  command.add_option("--limit-per-class", s.limit_per_class,
                     "Use so many samples of each class and split");
  command.add_option("--offset", s.skip_per_class,
                     "Pass over the first so many of each class and split");
}

void add_validation(cli::Command command, SelectionOptions& s) {
  command.add_option("--validation-data,--val-data=PATH", s.validation_data,
                     "Held-out samples, if they lie apart; of all classes or of some");
  command
      .add_option("--validation-fraction,--val-fraction=FRACTION", s.validation_fraction,
                  "Held out, by class")
      .check(cli::within(0.0, 0.9))
      .capture_default_str();
}

}  // namespace

void add_train(cli::Command app, Arguments& a) {
  cli::Command train = app.add_subcommand(
      "train", "Train a global model, from scratch or from another; write model and global pack");
  add_selection(train, a.selection);
  add_validation(train, a.selection);
  train.add_option("--model=FILE", a.model,
                   "From scratch: the network's description (JSON); numbers without one get two "
                   "hidden layers, ids a table of rows and one, text for --task sequence two of "
                   "LSTM");
  cli::Option from = train.add_option(
      "--from=DIR", a.from,
      "From a model's folder, as moil-import writes one; where its labels are "
      "others, with a fresh classifier; ids and characters that it does not know get rows");
  train
      .add_option("--trainable-layers", a.training.trainable_layers,
                  "n of LF(n): of --from, the last so many layers learn; all if left out")
      .check(cli::positive());
  train
      .add_option("--task", a.task,
                  "classify: one class a sample; tag: several labels, as \"red+round\"; predict: "
                  "the label is a number; sequence: what comes next in a text; if left out, a "
                  "table of fractions or of more than 21 "
                  "numbers is predicted, and everything else classified")
      .check(cli::one_of({"classify", "tag", "predict", "sequence"}));
  train
      .add_option("--loss", a.loss,
                  "For --task predict: squares, or huber, with which labels that lie far from the "
                  "others count little")
      .check(cli::one_of({"squares", "huber"}))
      .capture_default_str();
  cli::Option preprocessing = train.add_option(
      "--preprocessing=FILE", a.preprocessing,
      "JSON: what samples are to the model (docs/kinds.md); by the data if left out");
  preprocessing.excludes(from);
  train
      .add_option(
          "--hop=LINES", a.training.kind.hop,
          "Samples are recordings of any length, seen in windows of the model's lines, each "
          "so many lines behind the one before")
      .check(cli::positive())
      .excludes(preprocessing);
  train
      .add_option(
          "--views", a.training.augmentation.views,
          "Views of each training sample, the plain one among them; each epoch shows the next; if "
          "left out, 1, and 8 of records of ids")
      .check(cli::within(1, 64));
  train.add_flag("!--no-flip", a.training.augmentation.flip,
                 "Views are not mirrored: letters and digits would be others then");
  train.add_option("--out=DIR", a.out, "Folder to write; gets model/ and pack/").required();
  auto& t = a.training.trainer;
  train
      .add_option(
          "--epochs", a.epochs,
          "If left out, 20; 60 or more for numbers without a described network, 15 or more for "
          "ids")
      .check(cli::positive());
  train.add_option("--batch", t.batch).check(cli::positive()).capture_default_str();
  train.add_option("--optimizer", a.optimizer,
                   "sgd, sgdw, adam or adamw; sgd if left out, adamw for numbers and text without "
                   "a described network");
  train.add_option("--learning-rate", a.learning_rate,
                   "If left out, 0.003 for adam and adamw, else 0.1");
  train.add_option("--momentum", a.momentum, "For sgd and sgdw; 0.9 if left out");
  train.add_option("--weight-decay", a.weight_decay,
                   "If left out, 0; without a described network 0.01 for text, and for numbers up "
                   "to 3, the more the fewer they are");
  train.add_option("--schedule", a.schedule, "constant, step, cosine or exponential")
      .capture_default_str();
  train.add_option("--seed", t.seed).capture_default_str();
  train.add_option("--threads", a.threads, "All CPUs if left out").check(cli::positive());
  train
      .add_option("--eval-groups=NAME=A,B", a.groups,
                  "NAME=A,B: also tell the accuracy of these classes; several with ';'")
      .delimiter(';');
  train.add_option("--json=FILE", a.json, "Write the figures to this file");
}

void add_others(cli::Command app, Arguments& a) {
  cli::Command pack =
      app.add_subcommand("pack", "Make a pack of feature maps from a pack of images");
  pack.add_option("--model=DIR", a.model, "The model's folder").required();
  pack.add_option("--pack=DIR", a.pack, "The pack of images").required();
  pack.add_option("--trainable-layers", a.trainable_layers,
                  "n of LF(n): what stays trainable on the device")
      .required();
  pack.add_option("--out=DIR", a.out, "Folder to write").required();
  cli::Command sample_pack = app.add_subcommand(
      "image-pack", "Make a global pack of images, for a model that was trained elsewhere");
  add_selection(sample_pack, a.selection);
  add_validation(sample_pack, a.selection);
  sample_pack.add_option("--model=DIR", a.model, "The model's folder; its labels name the classes")
      .required();
  sample_pack.add_option("--class-names=FILE", a.class_names,
                         "Text: a class's name in the data, a tab, the model's label; found by "
                         "itself where spelling or a table beside the data tells");
  sample_pack.add_option("--out=DIR", a.out, "Folder to write").required();
  cli::Command described = app.add_subcommand(
      "described-pack",
      "Make a pack without any data: feature maps that the model's classifier describes");
  described.add_option("--model=DIR", a.model, "The model's folder").required();
  described.add_option("--out=DIR", a.out, "Folder to write").required();
  cli::Command unlabelled = app.add_subcommand(
      "unlabelled-pack",
      "Make a pack of samples without labels, and of feature maps that the classifier describes");
  unlabelled.add_option("--model=DIR", a.model, "The model's folder; its answers are the labels")
      .required();
  unlabelled
      .add_option("--data=DIR", a.selection.data, "A folder of samples, in folders of any name")
      .required();
  unlabelled.add_option("--out=DIR", a.out, "Folder to write").required();
  cli::Command images = app.add_subcommand(
      "images", "Write a dataset's samples as <class>/<number>.png, .npy or .csv");
  add_selection(images, a.selection);
  images
      .add_option(
          "--validation-fraction,--val-fraction=FRACTION", a.held_out,
          "Also write labels.jsonl, for moilctl label import, in which these are held out: the "
          "same as train holds out")
      .check(cli::within(0.0, 0.9));
  images.add_option("--out=DIR", a.out, "Folder to write").required();
}

}  // namespace moil::pretrain
