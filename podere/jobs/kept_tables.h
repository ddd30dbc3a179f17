// Tables that stay in the executors' memory between jobs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "podere/io/read_facts.h"
#include "podere/source/source.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::jobs {

/// A table that a job works on: its own, or one that is kept.
class JobTable {
 public:
  explicit JobTable(table::Table&& own) : table_(std::move(own)) {}
  explicit JobTable(table::Table& kept) : table_(&kept) {}

  /// As table::number_labels; what is kept has its own labels again when this ends. Not twice at a time for one kept
  /// table. Local.
  void number_labels(const std::vector<float>& classes, int n_threads);

  const table::Table& operator*() const;
  const table::Table* operator->() const { return &**this; }
  /// To go through; what is the job's own is released to the system as it is read for the last time. Must not outlive
  /// this.
  std::unique_ptr<table::RowSource> rows();

 private:
  /// Restores the labels of a kept table.
  class RestoreLabels {
   public:
    explicit RestoreLabels(table::Table& table);
    ~RestoreLabels();
    RestoreLabels(const RestoreLabels&) = delete;
    RestoreLabels& operator=(const RestoreLabels&) = delete;

   private:
    table::Table& table_;
    const std::vector<float> labels_;
  };
  std::variant<table::Table, table::Table*> table_;
  std::unique_ptr<RestoreLabels> restore_labels_;
};

/// The tables of one executor, by name. All ranks hold their rows of the same tables.
class KeptTables {
 public:
  /// Throws InputError if there is one of that name, or the name is none: letters, digits, . _ and -, at most 100.
  void keep(const std::string& name, table::Table table);
  /// As keep would.
  void check_free(const std::string& name) const;
  /// Throws InputError if there is none.
  void drop(const std::string& name);
  /// Throws InputError that names those that there are.
  table::Table& at(const std::string& name);
  /// What goes with a table, before it: null at first. Throws as at().
  std::shared_ptr<void>& companion(const std::string& name);

  /// The kept table of spec.location. Throws InputError if there is none, if `spec` says how to read it, or if a label
  /// is needed that it does not have.
  table::Table& find(const source::SourceSpec& spec, bool needs_label);

 private:
  struct Kept {
    table::Table table;
    std::shared_ptr<void> companion;  // goes first
  };
  std::map<std::string, Kept> tables_;
};

/// What results say of a table that is kept: "name", "rows", "features", "label", "weight", "classes", "categorical"
/// and "memory_bytes". Local.
Json facts_of(const std::string& name, const table::Table& table);

/// A kept table with the categories and, where a label is needed, the classes of `known`, in the way of
/// CsvOptions::coded_as: the very table if its codes mean the same, else a copy. Collective. Throws InputError, on all
/// ranks, where categories or classes meet numbers, and for a class that `known` has not.
JobTable coded_as(table::Table& kept, const table::Schema& known, bool needs_label, const comm::Communicator& comm,
                  io::UnknownTexts& unknown);

}  // namespace podere::jobs
