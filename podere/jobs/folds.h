// The folds of a job: how rows are dealt to them, and the column that may say how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "podere/jobs/job_context.h"
#include "podere/source/source_spec.h"
#include "podere/table/table.h"
#include "podere/table/value_folds.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {

inline constexpr int kMostRepeats = 1000;

/// The part of a job about folds.
struct Folds {
  int n = 0;               ///< of a repeat; 0: no cross-validation
  int repeats = 1;         ///< each with folds of its own
  std::uint64_t seed = 0;  ///< which rows are held out together
  std::string group;       ///< column whose values say which are; no feature; empty: none
  std::string order;       ///< column of their order: each fold is measured on rows that come after those that it is
                           ///< trained on; no feature; empty: none

  /// The column that is read for folds alone; empty: none.
  const std::string& column() const { return group.empty() ? order : group; }

  static void visit_fields(auto& self, auto&& visit) {
    visit("n", self.n);
    visit("repeats", self.repeats);
    visit("seed", self.seed);
    visit("group", self.group);
    visit("order", self.order);
  }
};

/// Rows that are dealt to folds.
struct FoldTable {
  const table::Table& table;
  const table::Table* column = nullptr;  ///< Folds::column() of the same rows, as the one feature; null: there is none
};

/// The source that is read where folds follow a column: with it among the features, as categories where it has groups,
/// of which float32 would not hold every number. `source` is as with_format has it.
source::SourceSpec with_fold_column(source::SourceSpec source, const Folds& folds);

/// Takes the column that folds follow out of the features of `table`, and returns it as the only feature of a table of
/// its own; nullopt: they follow none. Throws InputError, on all ranks, for a column that is not there, is the label or
/// the weight, or leaves no feature. Collective.
std::optional<table::Table> take_fold_column(std::optional<JobTable>& table, const Folds& folds,
                                             const JobContext& context);

/// The fold, or the run, of each row: as fold_of_rows (by class, for labels that are classes), folds_of_groups or
/// runs_in_order. The seed is that of `folds`. Collective. Throws InputError, on all ranks, as these.
table::ValueFolds deal_to_folds(const FoldTable& rows, const Folds& folds, table::FoldOptions options,
                                table::LabelKind kind, const comm::Communicator& comm);

}  // namespace podere::jobs
