#include "podere/jobs/folds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/table/folds.h"
#include "podere/table/select_columns.h"

namespace podere::jobs {
namespace {

/// The column that folds follow, as the only feature, and the table without it.
std::pair<table::Table, table::Table> without_fold_column(const table::Table& table, const Folds& folds,
                                                          int n_threads) {
  const std::string& column = folds.column();
  const char* const option = folds.group.empty() ? "fold-order" : "fold-group";
  const table::Schema& schema = table.schema();
  if (column == schema.label) {
    throw_input_error("{} is {}, which is the label: choose another with --label", option, printable(column));
  }
  if (column == schema.weight) throw_input_error("{} is {}, which is the weight", option, printable(column));
  std::vector<std::string> features = schema.features;
  if (std::erase(features, column) == 0) {
    const auto nearest = nearest_name(column, features);
    throw_input_error("{}: there is no column {}{}", option, printable(column),
                      nearest ? "; did you mean " + printable(*nearest) + "?" : "");
  }
  if (features.empty())
    throw_input_error("{} is {}, the only feature: none is left to learn from", option, printable(column));
  return {table::select_columns(table, {column}, n_threads), table::select_columns(table, features, n_threads)};
}

}  // namespace

source::SourceSpec with_fold_column(source::SourceSpec source, const Folds& folds) {
  if (folds.column().empty() || source::kept_name(source.location)) return source;
  const auto add_to = [&](std::vector<std::string>& columns) {
    if (std::ranges::find(columns, folds.column()) == columns.end()) columns.push_back(folds.column());
  };
  if (!source.columns.empty()) add_to(source.columns);
  std::erase(source.drop, folds.column());
  if (!folds.group.empty() && source::has_option(source, "categorical")) add_to(source.categorical);
  return source;
}

std::optional<table::Table> take_fold_column(std::optional<JobTable>& table, const Folds& folds,
                                             const JobContext& context) {
  std::optional<table::Table> taken;
  if (folds.column().empty()) return taken;
  context.comm.agree([&] {
    auto [column, rest] = without_fold_column(**table, folds, context.n_threads);
    taken.emplace(std::move(column));
    table.emplace(std::move(rest));
  });
  return taken;
}

table::ValueFolds deal_to_folds(const FoldTable& rows, const Folds& folds, table::FoldOptions options,
                                table::LabelKind kind, const comm::Communicator& comm) {
  options.seed = folds.seed;
  options.by_class = kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
  if (!folds.group.empty()) return table::folds_of_groups(*rows.column, rows.table, options, comm);
  if (!folds.order.empty()) return table::runs_in_order(*rows.column, rows.table, options, comm);
  return {table::fold_of_rows(rows.table, options, comm), 0};
}

}  // namespace podere::jobs
