#include "podere/python/array_svd.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <utility>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"
#include "podere/io/memory_room.h"
#include "podere/linalg/products.h"

namespace podere::python {
namespace {

struct Stopped {};

/// With the name that the array has in Python.
template <typename Phase>
auto in_words_of_x(Phase&& phase) {
  try {
    return phase();
  } catch (const InputError& fault) {
    throw_input_error("X: {}", fault.what());
  }
}

linalg::TallRows rows_of(const ArrayView& values) {
  return {values.n_rows, values.n_columns, table::rows_of(values.n_rows, 0, 1), values.begin};
}

void check_memory(const ArrayView& values, const linalg::SvdOptions& options, int n_threads,
                  const comm::Communicator& alone) {
  io::check_memory({fmt::format("X: products of {} columns", values.n_columns),
                    linalg::svd_bytes(options, values.n_columns, n_threads),
                    "use fewer columns, a smaller n_components, or fewer n_jobs"},
                   alone);
}

}  // namespace

std::optional<ArraySvd> svd_of_array(const ArrayView& values, const std::vector<std::string>& names,
                                     const linalg::Preparation& preparation, const linalg::SvdOptions& options,
                                     bool wants_left, int n_threads, Progress& progress) {
  const comm::Communicator alone = comm::Communicator::self();
  check_memory(values, options, n_threads, alone);
  const linalg::TallRows a = rows_of(values);
  const linalg::Prepared prepared =
      in_words_of_x([&] { return linalg::prepare(a, names, preparation, alone, n_threads); });
  const auto after_pass = [&](int n_passes, double residual) {
    progress.report({"svd", static_cast<std::size_t>(n_passes), 0, {{"residual", residual}}, "pass"});
    if (progress.stop_requested()) throw Stopped();
  };
  try {
    ArraySvd found{linalg::svd(a, prepared.map, options, alone, n_threads, after_pass), prepared.moments.means, {}};
    if (wants_left) found.left = linalg::left_vectors(a, prepared.map, found.svd, n_threads);
    return found;
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

linalg::TallMatrix scores_of_array(const ArrayView& values, const std::vector<std::string>& names,
                                   const std::vector<double>& mean, const ArrayView& vectors, int n_threads) {
  const comm::Communicator alone = comm::Communicator::self();
  const linalg::TallRows a = rows_of(values);
  in_words_of_x([&] { return linalg::ranges(a, names, alone, n_threads); });
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd v = Eigen::Map<const RowMajor>(vectors.begin, static_cast<Eigen::Index>(vectors.n_rows),
                                                       static_cast<Eigen::Index>(vectors.n_columns));
  return linalg::multiply(a, {mean, std::vector<double>(values.n_columns, 1.0)}, v, n_threads);
}

}  // namespace podere::python
