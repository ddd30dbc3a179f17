#include "podere/jobs/matrix_input.h"

#include <utility>

#include "podere/jobs/job_context.h"
#include "podere/linalg/prepare.h"
#include "podere/source/matrix.h"

namespace podere::jobs {

columns::Matrix matrix_of(const source::SourceSpec& spec, const JobContext& context) {
  if (source::kept_name(spec.location)) {
    return source::matrix_of(context.tables.find(spec, false), spec.location, context.comm, context.n_threads);
  }
  context.progress.report({"read", 0, 1, {}});
  io::ReadFacts facts;
  columns::Matrix matrix = source::load_matrix(spec, context.comm, context.n_threads, &facts);
  note_file(spec, facts, context);
  context.progress.count_rows(matrix.values.n_rows(), 0);
  return matrix;
}

Json facts_of(const columns::Matrix& matrix) {
  std::vector<std::string> labels;
  for (const std::size_t j : io::usual_labels(matrix.names)) labels.push_back(matrix.names[j]);
  return {{"rows", matrix.values.n_global_rows()},
          {"columns", matrix.values.n_columns()},
          {"values", matrix.type},
          {"called_as_labels", labels}};
}

std::vector<std::size_t> drop_missing(const source::SourceSpec& source, columns::Matrix& matrix, Json& facts,
                                      const JobContext& context) {
  std::vector<std::size_t> kept = linalg::columns_with_values(matrix.values, context.comm, context.n_threads);
  if (kept.empty()) throw_input_error("{}: all values are missing", source.location);
  facts["without_values"] = matrix.names.size() - kept.size();
  if (kept.size() == matrix.names.size()) return kept;
  matrix.values.keep_columns(kept);
  std::vector<std::string> names;
  for (const std::size_t j : kept) names.push_back(std::move(matrix.names[j]));
  matrix.names = std::move(names);
  return kept;
}

void impute(Impute impute, columns::Matrix& matrix, Json& facts, const JobContext& context) {
  if (impute == Impute::kNone) return;
  const auto counts = linalg::fill_with_means(matrix.values, matrix.names, context.comm, context.n_threads);
  Json filled = Json::object();
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] > 0) filled[matrix.names[j]] = counts[j];
  }
  facts["imputed"] = std::move(filled);
}

columns::NamedValues named(std::string name, const std::vector<double>& values,
                           const std::vector<std::string>& row_names) {
  return {std::move(name), {values.size()}, values, row_names};
}

columns::NamedValues named(std::string name, const Eigen::MatrixXd& values, const std::vector<std::string>& row_names) {
  columns::NamedValues array{std::move(name),
                             {static_cast<std::uint64_t>(values.rows()), static_cast<std::uint64_t>(values.cols())},
                             {},
                             row_names};
  array.values.reserve(static_cast<std::size_t>(values.size()));
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); ++j) array.values.push_back(values(i, j));
  }
  return array;
}

}  // namespace podere::jobs
