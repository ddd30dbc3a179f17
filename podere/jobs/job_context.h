// What executors have to do a job with, and what most kinds of jobs begin with.
#pragma once

#include <memory>
#include <string>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job.h"
#include "podere/jobs/kept_tables.h"
#include "podere/jobs/model.h"

namespace podere::jobs {

/// What an executor has to do a job with.
struct JobContext {
  const comm::Communicator& comm;
  int n_threads;
  Progress& progress;
  KeptTables& tables;
  Json& files;  ///< what results have as "files": what was decided about each file that was read, see note_file
};

/// Adds what was decided about the file of `spec` to context.files: "file" with "first_line", "names" or "row", where
/// the user had not chosen it, "renamed", the new names of columns whose name another has, and "left_out", columns with
/// the reason. Local.
void note_file(const source::SourceSpec& spec, const io::ReadFacts& facts, const JobContext& context);

/// The table of a job: kept, or loaded as source::load does, after a report of the phase "read". What was found in a
/// file goes to `facts`, where wanted.
JobTable table_of(const source::SourceSpec& spec, bool needs_label, const JobContext& context,
                  io::ReadFacts* facts = nullptr);
/// The same for a table to be used with `model`, whose categories it gets. Texts that the model does not know are
/// counted in `facts`.
JobTable table_for_model(const source::SourceSpec& spec, bool needs_label, const table::Schema& model,
                         const JobContext& context, io::ReadFacts& facts);

/// A model and a table to use it on.
struct ModelAndTable {
  std::unique_ptr<const algorithm::Model> model;
  JobTable table;
  io::ReadFacts facts;  ///< `unknown` of it is what results have as "unknown_categories"
  double load_seconds;  ///< of the table
};

/// load_shared_model, table_for_model and, where a label is needed, check_label_name. A model that looks at no labels
/// needs none.
ModelAndTable load_model_and_table(const std::string& model, std::size_t rounds, const source::SourceSpec& spec,
                                   bool needs_label, const JobContext& context);

/// The first column of delimited text is the label only as long as no other was chosen, and the model may remember
/// better. `spec` is as with_format has it.
/// Throws InputError if its name, as `table` has it, is not that of `model`'s label.
void check_label_name(const source::SourceSpec& spec, const table::Table& table, const table::Schema& model);

/// The rows that training is watched on: as table_for_model, but where they are not of the kind of the rows trained on,
/// whose schema is `trained`, with another label, or without the columns that are needed, or of places, not names, more
/// of them than are. Throws InputError on all ranks.
JobTable validation_table(const source::SourceSpec& validation, const source::SourceSpec& training,
                          const table::Schema& trained, bool needs_label, const JobContext& context,
                          io::ReadFacts& facts);

/// "executors", "cores" and "peak_memory_bytes" (of the executor that used most). Collective.
Json resources(const comm::Communicator& comm, int n_threads);

}  // namespace podere::jobs
