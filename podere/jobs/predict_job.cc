// Predictions as text, written by all ranks side by side into one file.
#include "podere/jobs/predict_job.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "podere/base/clock.h"
#include "podere/io/write_lines.h"
#include "podere/jobs/job_context.h"

namespace podere::jobs {
namespace {

/// Lines "p\n", or "p0,p1,...\n" for several outputs. Shortest decimals that read back as the same float32.
/// `values` [n_outputs x n_rows].
void format_rows(const std::vector<float>& values, std::size_t n_outputs, std::size_t begin, std::size_t end,
                 std::string& text) {
  const std::size_t n_rows = values.size() / n_outputs;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      fmt::format_to(std::back_inserter(text), "{}{}", values[k * n_rows + i], k + 1 < n_outputs ? ',' : '\n');
    }
  }
}

}  // namespace

Json run(const PredictJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, false, context);
  const algorithm::Model& model = *loaded.model;
  const table::Table& table = *loaded.table;
  Stopwatch watch;
  context.progress.report({"predict", 0, 1, {}});
  std::vector<float> values;
  comm.agree([&] {
    values = model.margins(table, n_threads);
    if (!job.margin) values = model.predictions(std::move(values), n_threads);
  });
  const double predict_seconds = watch.restart();
  context.progress.report({"write", 0, 1, {}});

  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) {
    format_rows(values, model.n_outputs(), begin, end, text);
  };
  io::write_lines(job.output, "", table.n_rows(), format, comm, n_threads);
  context.progress.count_rows(0, table.n_rows());
  Json result = {{"rows", table.n_global_rows()},
                 {"unknown_categories", loaded.facts.unknown},
                 {"load_seconds", loaded.load_seconds},
                 {"predict_seconds", predict_seconds},
                 {"write_seconds", watch.seconds()}};
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
