// Histograms of columns by class, for pictures.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// Sums of weights of a feature over the whole table, by class. Bins have equal width from `low` to `high`, each with
/// its lower edge, the last with both. They hold all finite values; or where a few lie far out, about 99 % of them;
/// those of categories have a code each.
struct ClassHistogram {
  double low = 0;
  double high = 0;                           ///< not above `low`: no value is finite
  std::vector<std::vector<double>> weights;  ///< [n_classes][n_bins]
  std::vector<double> below;                 ///< [n_classes], as the next two: -inf too
  std::vector<double> above;                 ///< +inf too
  std::vector<double> missing;
};

/// Of the features `features` of a table. A row is of the class that its label is, 0, 1, ...; with n_classes 1 all rows
/// are of class 0, and rows of other labels count nowhere. Collective; the same bits on every rank, for any number of
/// ranks and threads. An all_gather_v of about 4,096 values a feature, and five all_reduces, the largest of
/// 8 (n_bins + 3) n_classes bytes a feature.
std::vector<ClassHistogram> class_histograms(const Table& table, std::span<const std::size_t> features,
                                             std::size_t n_classes, std::size_t n_bins, const comm::Communicator& comm,
                                             int n_threads);

}  // namespace podere::table
