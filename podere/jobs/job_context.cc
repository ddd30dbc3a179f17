#include "podere/jobs/job_context.h"

#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/memory.h"
#include "podere/base/printable.h"
#include "podere/table/features.h"
#include "podere/table/labels.h"

namespace podere::jobs {

namespace {

/// A table of the job's own.
JobTable load_counted(const source::SourceSpec& spec, bool needs_label, const JobContext& context,
                      io::ReadFacts& facts) {
  context.progress.report({"read", 0, 1, {}});
  table::Table table = load(spec, needs_label, context.comm, context.n_threads, &facts);
  note_file(spec, facts, context);
  context.progress.count_rows(table.n_rows(), 0);
  return JobTable(std::move(table));
}

/// With labels that are numbers made places among the job's classes, or else the model's.
JobTable with_classes(JobTable table, const source::SourceSpec& spec, const std::vector<std::string>& known,
                      bool needs_label, const JobContext& context) {
  if (!table->schema().label || !table->schema().classes.empty()) return table;
  if (spec.classes.empty() && (known.empty() || !needs_label)) return table;
  const auto numbers = spec.classes.empty()
                           ? table::class_numbers(known)
                           : std::optional(std::vector<float>(spec.classes.begin(), spec.classes.end()));
  if (!numbers) {
    throw_input_error("{}: the label {} holds numbers, and the model's classes are texts: {}", spec.location,
                      printable(*table->schema().label), printable_list(known));
  }
  context.comm.agree([&] { table.number_labels(*numbers, context.n_threads); });
  return table;
}

}  // namespace

void note_file(const source::SourceSpec& spec, const io::ReadFacts& facts, const JobContext& context) {
  Json note = Json::object();
  if (facts.n_files > 1) note["n_files"] = facts.n_files;
  if (!facts.folder_columns.empty()) note["folder_columns"] = facts.folder_columns;
  if (facts.found_header) note["first_line"] = *facts.found_header ? "names" : "row";
  if (!facts.notes.empty()) note["notes"] = facts.notes;
  if (!facts.renamed.empty()) note["renamed"] = facts.renamed;
  for (const auto& [column, reason] : facts.left_out) {
    note["left_out"].push_back({{"column", column}, {"reason", reason}});
  }
  for (const auto& [column, form, meaning] : facts.read_as) {
    note["read_as"].push_back({{"column", column}, {"form", form}, {"meaning", meaning}});
  }
  for (const auto& [column, step, may_be_category] : facts.rounded) {
    note["rounded"].push_back({{"column", column}, {"step", step}});
    if (!may_be_category) note["rounded"].back()["only_numbers"] = true;
  }
  if (facts.n_unlabeled > 0) note["unlabeled_rows"] = facts.n_unlabeled;
  if (!facts.doubts.empty()) note["doubts"] = facts.doubts;
  if (!facts.categories.empty()) note["categories"] = facts.categories;
  if (note.empty()) return;
  note["file"] = spec.location;
  context.files.push_back(std::move(note));
}

JobTable table_of(const source::SourceSpec& spec, bool needs_label, const JobContext& context, io::ReadFacts* facts) {
  if (source::kept_name(spec.location))
    return with_classes(JobTable(context.tables.find(spec, needs_label)), spec, {}, needs_label, context);
  io::ReadFacts found;
  JobTable table = load_counted(spec, needs_label, context, found);
  if (facts != nullptr) *facts = std::move(found);
  return with_classes(std::move(table), spec, {}, needs_label, context);
}

JobTable table_for_model(const source::SourceSpec& spec, bool needs_label, const table::Schema& model,
                         const JobContext& context, io::ReadFacts& facts) {
  if (source::kept_name(spec.location)) {
    table::Table& kept = context.tables.find(spec, needs_label);
    return with_classes(coded_as(kept, model, needs_label, context.comm, facts.unknown), spec, model.classes,
                        needs_label, context);
  }
  source::SourceSpec coded = spec;
  coded.coded_as = model;
  JobTable table = load_counted(coded, needs_label, context, facts);
  return with_classes(std::move(table), spec, model.classes, needs_label, context);
}

void check_label_name(const source::SourceSpec& spec, const table::Table& table, const table::Schema& model) {
  const auto& found = table.schema().label;
  const auto& wanted = model.label;
  if (spec.label || !spec.labels.empty() || source::kept_name(spec.location) || !found || !wanted || *found == *wanted)
    return;
  if (!source::column_rules(spec).labels_have_names) return;
  if (table::is_made_up({*found}) || table::is_made_up({*wanted})) return;
  const bool holds_its_classes = !model.classes.empty();  // reading has checked each
  if (holds_its_classes) return;
  throw_input_error("the model was trained on the label {}, the first column of {} is {}: choose one with --label",
                    printable(*wanted), spec.location, printable(*found));
}

namespace {

/// Columns of a file without names are known by their places: those of a file with more of them are other ones, unless
/// its format leaves zeros out.
void check_as_many(const source::SourceSpec& spec, const table::Schema& found, const table::Schema& trained) {
  const source::ColumnRules rules = source::column_rules(spec);
  if (rules.zeros_are_left_out || source::kept_name(spec.location)) return;
  const bool is_nameless =
      !rules.features_have_names || (table::is_made_up(found.features) && table::is_made_up(trained.features));
  if (!is_nameless || found.features.size() == trained.features.size()) return;
  throw_input_error("it has {} features, the rows trained on have {}", found.features.size(), trained.features.size());
}

}  // namespace

JobTable validation_table(const source::SourceSpec& validation, const source::SourceSpec& training,
                          const table::Schema& trained, bool needs_label, const JobContext& context,
                          io::ReadFacts& facts) {
  source::SourceSpec spec = source::with_format(validation, context.comm);
  // The labels of what is kept are numbered already.
  if (source::kept_name(spec.location) && spec.location == training.location) spec.classes.clear();
  JobTable table = table_for_model(spec, needs_label, trained, context, facts);
  try {
    check_as_many(spec, table->schema(), trained);
    table::match_features(trained, table->schema());
  } catch (const InputError& error) {
    throw_input_error("validation data {}: {}", spec.location, error.what());
  }
  if (needs_label) check_label_name(spec, *table, trained);
  return table;
}

ModelAndTable load_model_and_table(const std::string& model, std::size_t rounds, const source::SourceSpec& spec,
                                   bool needs_label, const JobContext& context) {
  context.progress.report({"read", 0, 1, {}});
  auto of_file = load_shared_model(model, context.comm, rounds);
  needs_label = needs_label && table::uses_labels(of_file->label_rules());
  const Stopwatch watch;
  io::ReadFacts facts;
  const source::SourceSpec source = source::with_format(spec, context.comm);
  JobTable table = table_for_model(source, needs_label, of_file->schema(), context, facts);
  const double load_seconds = watch.seconds();
  if (needs_label) check_label_name(source, *table, of_file->schema());
  return {std::move(of_file), std::move(table), std::move(facts), load_seconds};
}

Json resources(const comm::Communicator& comm, int n_threads) {
  return {{"executors", comm.size()},
          {"cores", n_threads},
          {"peak_memory_bytes", comm.all_reduce(peak_memory_bytes(), comm::Reduction::kMax)}};
}

}  // namespace podere::jobs
