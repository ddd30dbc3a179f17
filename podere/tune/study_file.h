// A study as a file: a journal as Optuna's JournalFileBackend writes and reads it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/file_lock.h"
#include "podere/base/json.h"
#include "podere/tune/space.h"
#include "podere/tune/study.h"

namespace podere::tune {

/// What a study is, beside its trials.
struct StudyHead {
  std::string name;           ///< in lists of studies
  bool is_maximized = false;  ///< its score; then the loss is the score times -1
  Json run;                   ///< by what it differs from others: data, space, options
};

/// A trial as a file has it.
struct RecordedTrial {
  enum class State { kRunning = 0, kComplete = 1, kPruned = 2, kFailed = 3 };  // Optuna's numbers
  Json setting;
  State state = State::kRunning;
  std::map<std::size_t, StepResult> done;  ///< by budget
};

constexpr EnumNames<4> names_of(RecordedTrial::State /*enumeration*/) {
  return {"state of a trial", {"running", "complete", "paused", "failed"}};
}

struct RecordedStudy {
  StudyHead head;
  std::vector<RecordedTrial> trials;
};

/// Reads a journal; lines of a last step that is not whole are left out. Throws InputError, beginning with `name`, for
/// what is no journal of Podere's.
RecordedStudy study_from_text(const std::string& text, const std::string& name);

/// Writes a journal, the lines of a step at once, after what other programs have added. Lines that could not be
/// written, as on a full disk, come with later ones.
class StudyWriter {
 public:
  /// Continues the file, if it is there, after its last whole step; it is not changed before the first record.
  /// Keeps it from other commands. A new file is only there once it has a step. Throws InputError if another has it or
  /// it cannot be written.
  StudyWriter(const std::string& path, const Space& space);
  ~StudyWriter();
  StudyWriter(const StudyWriter&) = delete;
  StudyWriter& operator=(const StudyWriter&) = delete;

  /// What the file had when it was opened; empty: begin() a study.
  const std::string& text() const { return text_; }
  /// Written with the first step.
  void begin(const StudyHead& head);
  /// A trial's first step begins it, and those of lower numbers that have none yet: trials count in their order.
  void note(const Step& step, const StepResult& result, bool is_maximized);
  /// That it gets no more steps.
  void end(std::size_t trial, RecordedTrial::State state, double score);
  /// The cause if the last lines could not be written; empty: all are on the disk.
  const std::string& fault() const { return fault_; }

 private:
  void add(const Json& record);
  void remove_part_of_step();
  void write();

  std::string path_;
  std::vector<Parameter> parameters_;
  std::size_t n_created_ = 0;  // trials
  FileLock lock_;
  int file_ = -1;
  std::string text_;
  std::size_t size_when_opened_ = 0;  // of the file, of which text_ may have less
  bool is_new_ = false;
  bool has_written_ = false;
  std::string waiting_;  // lines
  std::string fault_;
};

}  // namespace podere::tune
