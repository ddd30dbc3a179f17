// Predictions as text, written by all ranks side by side into one file.
#include <fmt/format.h>

#include <iterator>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/parallel.h"
#include "podere/session/jobs.h"
#include "podere/tree/predict.h"

namespace podere::session {
namespace {

constexpr std::size_t kRowsPerText = 1 << 16;

/// Lines for the rows held here, in pieces: "p\n", or "p0,p1,...\n" for several outputs. Shortest decimals that give
/// back the same float32. `values` [n_outputs x n_rows].
std::vector<std::string> format_rows(const std::vector<float>& values, std::size_t n_outputs, std::size_t n_rows,
                                     int n_threads) {
  std::vector<std::string> texts((n_rows + kRowsPerText - 1) / kRowsPerText);
  parallel_for_slices(n_threads, n_rows, kRowsPerText, [&](std::size_t begin, std::size_t end, int) {
    std::string& text = texts[begin / kRowsPerText];
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < n_outputs; ++k) {
        fmt::format_to(std::back_inserter(text), "{}{}", values[k * n_rows + i], k + 1 < n_outputs ? ',' : '\n');
      }
    }
  });
  return texts;
}

}  // namespace

Json run(const PredictJob& job, const Workplace& at) {
  const comm::Communicator& comm = at.comm;
  const int n_threads = at.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, false, at);
  const tree::Model& model = loaded.model;
  const table::Table& table = *loaded.table;
  Stopwatch watch;
  std::vector<float> values;
  comm.agree([&] {
    values = job.margin ? tree::predict_margins(model, table, n_threads) : tree::predict(model, table, n_threads);
  });
  const double predict_seconds = watch.restart();

  std::vector<std::string> texts;
  comm.agree([&] { texts = format_rows(values, model.n_outputs(), table.n_rows(), n_threads); });
  std::uint64_t n_bytes = 0;
  for (const std::string& text : texts) n_bytes += text.size();
  std::uint64_t offset = comm.exclusive_scan(n_bytes, comm::Reduction::kSum, std::uint64_t{0});
  comm.agree([&] {
    for (const std::string& text : texts) {
      write_into(job.output, offset, text);
      offset += text.size();
    }
  });
  Json result = {{"rows", table.n_global_rows()},
                 {"unknown_categories", loaded.unknown},
                 {"load_seconds", loaded.load_seconds},
                 {"predict_seconds", predict_seconds},
                 {"write_seconds", watch.seconds()}};
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::session
