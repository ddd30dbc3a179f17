// Arrays of Python as tall matrices.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/products.h"
#include "podere/linalg/svd.h"
#include "podere/python/array_svd.h"
#include "podere/python/signal_progress.h"

namespace podere::python {

using MatrixRows = py::array_t<double, py::array::c_style>;

/// The values of a matrix, without a copy.
inline MatrixRows rows_of_matrix(linalg::TallMatrix matrix) {
  auto kept = std::make_unique<linalg::TallMatrix>(std::move(matrix));
  const std::vector<std::size_t> shape = {kept->n_rows(), kept->n_columns()};
  const double* const begin = kept->values().data();
  const py::capsule owner(kept.release(), [](void* held) { delete static_cast<linalg::TallMatrix*>(held); });
  return MatrixRows(shape, begin, owner);
}

inline MatrixRows vector_of(const Eigen::VectorXd& values) {
  return MatrixRows(std::vector<std::size_t>{static_cast<std::size_t>(values.size())}, values.data());
}

inline MatrixRows matrix_of_eigen(const Eigen::MatrixXd& values) {
  MatrixRows rows(
      std::vector<std::size_t>{static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols())});
  auto to = rows.mutable_unchecked<2>();
  for (py::ssize_t i = 0; i < values.rows(); ++i) {
    for (py::ssize_t j = 0; j < values.cols(); ++j) to(i, j) = values(i, j);
  }
  return rows;
}

inline ArrayView view_of(const MatrixRows& values) {
  if (values.ndim() != 2) throw py::value_error("an array of two dimensions is needed");
  return {values.data(), static_cast<std::size_t>(values.shape(0)), static_cast<std::size_t>(values.shape(1))};
}

inline py::dict decompose(const MatrixRows& values, const std::vector<std::string>& names, std::size_t rank,
                          const std::string& method, double tolerance, int max_passes, std::uint64_t seed, bool center,
                          bool left, int n_threads, py::object show) {
  const ArrayView view = view_of(values);
  const linalg::SvdOptions options{.rank = rank,
                                   .method = parse_name<linalg::SvdMethod>(method),
                                   .tolerance = tolerance,
                                   .max_passes = max_passes,
                                   .seed = seed};
  SignalProgress progress(std::move(show));
  std::optional<ArraySvd> found;
  {
    const py::gil_scoped_release unlocked;
    found = svd_of_array(view, names, {.center = center}, options, left, n_threads, progress);
  }
  progress.finish();
  if (!found) throw py::error_already_set();
  py::dict result;
  result["s"] = vector_of(found->svd.s);
  result["V"] = matrix_of_eigen(found->svd.v);
  result["shares"] = vector_of(found->svd.shares);
  result["residuals"] = vector_of(found->svd.residuals);
  result["resolved"] = found->svd.n_resolved();
  result["method"] = to_string(found->svd.method);
  result["passes"] = found->svd.n_passes;
  result["has_converged"] = found->svd.has_converged;
  const std::vector<double>& means = found->means;
  result["mean"] = MatrixRows(std::vector<std::size_t>{means.size()}, means.data());
  if (found->left) result["U"] = rows_of_matrix(std::move(*found->left));
  return result;
}

inline MatrixRows project(const MatrixRows& values, const std::vector<std::string>& names,
                          const std::vector<double>& mean, const MatrixRows& vectors, int n_threads) {
  const ArrayView view = view_of(values), of_vectors = view_of(vectors);
  std::optional<linalg::TallMatrix> scores;
  {
    const py::gil_scoped_release unlocked;
    scores = scores_of_array(view, names, mean, of_vectors, n_threads);
  }
  return rows_of_matrix(std::move(*scores));
}

inline void define_matrices(py::module_& module) {
  module.def("decompose", &decompose, py::arg("values").noconvert(), py::arg("names"), py::arg("rank"),
             py::arg("method"), py::arg("tolerance"), py::arg("max_passes"), py::arg("seed"), py::arg("center"),
             py::arg("left"), py::arg("n_threads"), py::arg("show").none(true));
  module.def("project", &project, py::arg("values").noconvert(), py::arg("names"), py::arg("mean"),
             py::arg("vectors").noconvert(), py::arg("n_threads"));
}

}  // namespace podere::python
