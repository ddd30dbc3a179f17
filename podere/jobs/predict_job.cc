// Predictions as text, written by all ranks side by side into one file.
#include "podere/jobs/predict_job.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/io/write_csv.h"
#include "podere/io/write_lines.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/model.h"

namespace podere::jobs {
namespace {

/// A line for each row: its class, where `classes` has the texts of them, and "p", or "p0,p1,..." for several outputs,
/// where `has_numbers`. Shortest decimals that read back as the same float32. `values` [n_outputs x n_rows].
class RowFormat {
 public:
  RowFormat(const std::vector<float>& values, std::size_t n_outputs, std::vector<std::string> classes, bool has_numbers)
      : values_(values),
        n_outputs_(n_outputs),
        n_rows_(values.size() / n_outputs),
        classes_(std::move(classes)),
        has_numbers_(has_numbers) {
    if (classes_.empty()) return;
    chosen_ = evaluate::predicted_classes(values, classes_.size(), n_rows_);
    for (std::string& text : classes_) text = io::field_of(text);
  }

  void append(std::size_t begin, std::size_t end, std::string& text) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (!classes_.empty()) (text += classes_[static_cast<std::size_t>(chosen_[i])]) += ',';
      for (std::size_t k = 0; has_numbers_ && k < n_outputs_; ++k) {
        fmt::format_to(std::back_inserter(text), "{},", values_[k * n_rows_ + i]);
      }
      text.back() = '\n';
    }
  }

 private:
  const std::vector<float>& values_;
  std::size_t n_outputs_;
  std::size_t n_rows_;
  std::vector<std::string> classes_;
  std::vector<std::int32_t> chosen_;  // [n_rows_]
  bool has_numbers_;
};

}  // namespace

Json run(const PredictJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, false, context);
  const algorithm::Model& model = *loaded.model;
  const table::Table& table = *loaded.table;
  const std::vector<std::string> classes = class_names(model);
  const bool has_clusters = !table::uses_labels(model.label_rules()) && !classes.empty();
  const Prediction as = job.as.value_or(has_clusters && !job.margin ? Prediction::kClass : Prediction::kProbability);
  const bool wants_classes = as != Prediction::kProbability;
  if (wants_classes && classes.empty()) {
    throw_input_error("{}: predicts numbers, and no classes: leave --as out", job.model);
  }
  if (wants_classes && job.margin) throw InputError("--as is for probabilities and classes, and not for --margin");
  Stopwatch watch;
  context.progress.report({"predict", 0, 1, {}});
  std::vector<float> values;
  comm.agree([&] {
    values = model.margins(table, n_threads);
    if (!job.margin) values = model.predictions(std::move(values), n_threads);
  });
  const double predict_seconds = watch.restart();
  context.progress.report({"write", 0, 1, {}});

  const RowFormat rows(values, model.n_outputs(), wants_classes ? classes : std::vector<std::string>(),
                       as != Prediction::kClass);
  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) { rows.append(begin, end, text); };
  io::write_lines(job.output, "", table.n_rows(), format, comm, n_threads);
  context.progress.count_rows(0, table.n_rows());
  Json result = {{"rows", table.n_global_rows()},
                 {"unknown_categories", loaded.facts.unknown},
                 {"load_seconds", loaded.load_seconds},
                 {"predict_seconds", predict_seconds},
                 {"write_seconds", watch.seconds()}};
  if (!classes.empty()) {
    result["classes"] = classes;
    result["is_of_each_class"] = model.n_outputs() > 1 || has_clusters;
    result["as"] = to_string(as);
  }
  if (const auto names = model.output_names(job.margin); !names.empty()) result["outputs"] = names;
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
