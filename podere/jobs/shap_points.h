// SHAP values of some rows, beside the values of the features, for a picture of both.
#pragma once

#include <span>

#include "podere/algorithm/model.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::jobs {

/// Of about 500 rows, which depend on the numbers of the rows alone, and the 20 features whose `importance`
/// [n_features] is the largest: {"rows", "features": [{"name", "is_category", "shap": [rows], "places": [rows]}]}, the
/// most important first, rounded to four digits. Places are those of the feature's values among each other, from 0 to
/// 1, null for missing ones. Points of a feature are in the order of its SHAP values, so that they show no row. Null
/// for models of several outputs, of which each has values of its own. Collective: gathers all of it on every rank.
Json shap_points(const comm::Communicator& comm, const algorithm::Model& model,
                 const algorithm::Explainable& explainable, const table::Table& table,
                 std::span<const double> importance);

}  // namespace podere::jobs
