// A search for options on rows that are in memory.
#pragma once

#include <memory>
#include <string>

#include "podere/algorithm/algorithm.h"
#include "podere/base/json.h"
#include "podere/jobs/folds.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/tune_job.h"
#include "podere/table/table.h"
#include "podere/tune/space.h"

namespace podere::jobs {

/// What is searched, whatever the rows. It says what trials are measured on.
struct SearchTask {
  const TuneJob& job;
  const algorithm::Algorithm& algorithm;
  const tune::Space& space;
  Json options;        ///< of all trials
  Json first_options;  ///< of a trial
};

struct SearchFound {
  Json facts = Json::object();  ///< of podere tune --json, those of rows and of seconds to load left out
  std::unique_ptr<const algorithm::Model> model;  ///< null: it was stopped
};

/// Searches, and trains what it found on all rows `given`. `validation`: null where trials are measured on some of
/// them. Collective. Throws InputError, on all ranks, where nothing can be found.
SearchFound search_on(const SearchTask& task, const FoldTable& given, const table::Table* validation,
                      const JobContext& context);

/// Whether one core trains a model of such a table quickly, so that many do best with a model each.
bool is_small(const table::Table& table);

/// For messages.
std::string name_of_space(const TuneJob& job);

}  // namespace podere::jobs
