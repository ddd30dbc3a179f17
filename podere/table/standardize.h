// Features on a common scale.
#pragma once

#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// What each feature [n_features] is shifted by, and then divided by.
struct Scaling {
  std::vector<double> mean;
  std::vector<double> scale;  ///< finite, above 0
  bool operator==(const Scaling&) const = default;

  static void visit_fields(auto& self, auto&& visit) {
    visit("mean", self.mean);
    visit("scale", self.scale);
  }
};

/// Mean and population standard deviation of the finite values of each feature, whatever their weight. Missing and
/// infinite values are left out. A feature of equal values has these as its mean, and the scale 1; one without finite
/// values, or of categories, has the mean 0 and the scale 1.
///
///     mean = sum x / n,  scale = sqrt(sum (x - mean)^2 / n),  both sums exact, each square rounded once
///
/// Collective; the same bits on every rank, for any number of ranks and threads. Five all_reduces, of about 1200 bytes
/// a feature together.
Scaling measure_scaling(const Table& table, const comm::Communicator& comm, int n_threads);

/// The same of some columns, those of all ranks together, each of as many values here as there are. An empty column on
/// all ranks has the mean 0 and the scale 1.
Scaling measure_scaling(std::span<const std::span<const float>> columns, const comm::Communicator& comm, int n_threads);

/// Replaces each value x of the features by (x - mean) / scale, rounded to float32; label and weight stay. Missing
/// values stay missing, infinite ones infinite; what comes to lie beyond float32, where `scaling` was measured on other
/// rows, becomes infinite. Features of categories stay as they are, whatever `scaling` says of them.
/// Local. Throws InputError unless `scaling` is of as many features, with finite means and scales above 0.
void standardize(Table& table, const Scaling& scaling, int n_threads);

}  // namespace podere::table
