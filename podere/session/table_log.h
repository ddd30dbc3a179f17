// How kept tables came about, so that they can be made again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "podere/jobs/job.h"
#include "podere/session/inputs.h"

namespace podere::session {

/// The jobs behind the tables that a session keeps. A group of executors that takes the place of another does them
/// again: each gives the same table, bit for bit, on any number of executors.
class TableLog {
 public:
  struct Step {
    jobs::Job job;
    Inputs inputs;  ///< as they were when it was done first
    int number;
    std::vector<int> needs;  ///< numbers of the steps whose tables it used
  };

  /// Takes note of a job that was done. What is needed for no table any more is forgotten.
  void note(const jobs::Job& job, const Inputs& inputs, const Json& result);
  /// In the order in which they are to be done. Some drop a table that only others needed.
  const std::vector<Step>& steps() const { return steps_; }

  /// A step could not be done again: its tables are gone, and those made from them.
  void lose(int number, const std::string& cause);
  /// Throws InputError, with the cause, if the job uses a table that is gone.
  void check_usable(const jobs::Job& job) const;

  /// What loading reported of each kept table, by name.
  const std::map<std::string, Json>& tables() const { return tables_; }

 private:
  void forget_what_is_not_needed();

  std::vector<Step> steps_;
  std::map<std::string, int> maker_;  // of each kept table
  std::map<std::string, Json> tables_;
  std::map<std::string, std::string> gone_;  // causes by name
  int last_number_ = 0;
};

/// Names of the kept tables that a job uses.
std::vector<std::string> tables_used(const jobs::Job& job);

}  // namespace podere::session
