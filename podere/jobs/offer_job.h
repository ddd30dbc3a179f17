// Kept tables that other processes read in parallel.
#pragma once

#include <string>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// From now on each executor serves the rows that it holds of a kept table, as io::RowOutlet, until the table is
/// dropped. To do it again, towards the same host, changes nothing. Result: "name", "rows", "features", "label",
/// "weight", "classes", "dates" (places), "texts" ("feature", "texts" of each category with texts), "token", and
/// "executors": of each "address", "port", "begin" and "end", by row numbers.
struct OfferJob {
  static constexpr const char* kKind = "offer";

  source::SourceSpec table;        ///< a kept one
  std::string host = "127.0.0.1";  ///< who is to reach the executors: they listen at the address that leads there

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("host", self.host);
  }
};
Json run(const OfferJob& job, const JobContext& context);

}  // namespace podere::jobs
