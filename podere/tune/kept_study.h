// A study that is kept in a journal: what an earlier run of it measured is not measured again.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/tune/study.h"
#include "podere/tune/study_file.h"

namespace podere::tune {

class KeptStudy {
 public:
  /// `recorded` is what the journal `path` has; empty: the study begins. `writer` is null where there is no journal, or
  /// another rank writes it. `search` outlives this. Throws InputError for the journal of another study.
  KeptStudy(const StudyOptions& options, const Search& search, StudyHead head, std::string path,
            const std::string& recorded, std::unique_ptr<StudyWriter> writer);
  KeptStudy(const KeptStudy&) = delete;
  KeptStudy& operator=(const KeptStudy&) = delete;

  /// None of its steps to do is in the journal.
  const Study& study() const { return study_; }
  /// The result of a step of study().to_do().
  void report(const Step& step, StepResult result);
  /// The cause if the journal could not be written; what it lacks is written once that is possible.
  std::string fault() const { return writer_ ? writer_->fault() : ""; }
  /// Lets others have the journal; what is reported from now on is not in it.
  void close() { writer_.reset(); }

 private:
  void report_recorded();
  std::optional<StepResult> recorded(const Step& step) const;
  void note(const Trial& trial, const Step& step, const StepResult& result);
  void end(std::size_t trial);
  void end_paused();

  StudyHead head_;
  std::string path_;
  std::vector<RecordedTrial> trials_;  // of the journal, as it was opened
  std::unique_ptr<StudyWriter> writer_;
  Study study_;
};

/// A trial as results have it: "trial" (its number), "state", "setting", "curve" (of each step its budget and the score
/// after it; null: it failed), and of the best step "score", "budget" and "facts"; of a trial that failed those of the
/// last. `done` has steps by budget; where there is none, the score is null and the budget 0.
Json trial_json(std::size_t trial, const std::string& state, const Json& setting,
                const std::map<std::size_t, StepResult>& done, bool is_maximized);

Json trial_json(std::size_t trial, const Trial& of, bool is_maximized);

/// The trials that were measured, by number.
Json trials_json(const Study& study, bool is_maximized);

}  // namespace podere::tune
