// What mpirun, ssh and srun say when something goes wrong, understood.
#pragma once

#include <deque>
#include <optional>
#include <string>

namespace podere::launch {

/// What was lost, and how.
struct Loss {
  std::string who;  ///< "executor 3", "host node7"
  std::string how;  ///< "killed by signal 9"
  bool operator==(const Loss&) const = default;
};

/// The loss that these lines of standard error report, if they do. When one executor dies the launcher ends the
/// others: this is the one that began.
std::optional<Loss> find_loss(const std::deque<std::string>& lines);

/// The launcher says that the group is over. It should end now, but mpirun 4.1 may hang.
bool reports_the_end(const std::string& line);

/// mpirun says that an executor ended, and no line says why: it was killed, or left without a word.
bool reports_a_silent_end(const std::deque<std::string>& lines);

/// Open MPI says that srun gave it nothing by which processes find each other.
bool reports_no_group(const std::deque<std::string>& lines);

/// Why executors did not start, in one line: the first message is the cause, the rest came of it. Empty without
/// words.
std::string first_words(const std::deque<std::string>& lines);

/// The last line that is not empty or a rule. Empty without words.
std::string last_words(const std::deque<std::string>& lines);

}  // namespace podere::launch
