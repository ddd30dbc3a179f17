// The matrix of a job: how it is read, what becomes of missing values, and what users learn of both.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/error.h"
#include "podere/columns/matrix.h"
#include "podere/columns/write_arrays.h"
#include "podere/jobs/job.h"
#include "podere/linalg/column_facts.h"

namespace podere::jobs {

/// What becomes of missing values: they are refused, or become the mean of their column.
enum class Impute { kNone, kMean };
constexpr EnumNames<2> names_of(Impute) { return {"impute", {"none", "mean"}}; }

/// A file, or a table that executors keep. Collective; throws as source::load_matrix.
columns::Matrix matrix_of(const source::SourceSpec& spec, const JobContext& context);

/// Facts "rows", "columns", "values" (their type), and "called_as_labels": columns that may be labels by their names,
/// which a matrix takes as any other.
Json facts_of(const columns::Matrix& matrix);

/// Leaves columns without a value in any row out. Returns the places of the others, and adds "without_values", how many
/// were left out, to the facts. Collective; throws InputError, on all ranks, where no column has a value.
std::vector<std::size_t> drop_missing(const source::SourceSpec& source, columns::Matrix& matrix, Json& facts,
                                      const JobContext& context);

/// What --impute asks for; adds "imputed" to the facts then: how many values of which columns. Collective; throws as
/// linalg::fill_with_means.
void impute(Impute impute, columns::Matrix& matrix, Json& facts, const JobContext& context);

/// Runs phase(), whose InputError then has the name of the source, and rows as in the file. `ways`: which options leave
/// missing values out.
template <typename Phase>
auto in_words_of(const source::SourceSpec& source, const std::vector<std::string>& names, Phase&& phase,
                 const char* ways = "--rows, --drop") {
  try {
    return phase();
  } catch (const linalg::NotFinite& fault) {
    const linalg::NotFinite in_file(fault.row() + source.rows.first_row, fault.column(), names[fault.column()]);
    throw_input_error("{}: {}; leave rows or columns out ({}), or fill them in (--impute mean)", source.location,
                      in_file.what(), ways);
  } catch (const InputError& fault) {
    throw_input_error("{}: {}", source.location, fault.what());
  }
}

/// As they are written.
columns::NamedValues named(std::string name, const std::vector<double>& values,
                           const std::vector<std::string>& row_names = {});
columns::NamedValues named(std::string name, const Eigen::MatrixXd& values,
                           const std::vector<std::string>& row_names = {});

}  // namespace podere::jobs
