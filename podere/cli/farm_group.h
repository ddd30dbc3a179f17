// Executors in the pods of a farm, which come and go.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/cli/arguments.h"
#include "podere/launch/farm_pods.h"
#include "podere/session/session.h"

namespace podere::cli {

/// Chooses pods for a group, and notices when it should choose again. Not thread-safe.
class FarmGroup {
 public:
  /// What executors need on this machine lies in `folder`. Throws InputError as launch::FarmPods.
  FarmGroup(const GroupOptions& group, const std::filesystem::path& folder);

  /// Before the first launch, waits until the farm has the executors that are wanted, or enough of them and no more
  /// come; then while there are fewer than are enough. Tells what the farm waits for, and throws Interrupted where
  /// `progress` wishes to stop.
  void await_room(Progress& progress);
  /// The command that runs `program` in `n` pods. Throws session::GroupLost if fewer answer.
  CommandLine launch(int n, const std::vector<std::string>& program);
  /// How many pods can be used.
  int room() const { return static_cast<int>(pods_.hosts().size()); }
  /// Asks again for as many as at first when more pods have come to stay, and to move when one in use is to go.
  session::Wanted wanted();

 private:
  void look();

  const std::string name_;
  const std::filesystem::path folder_;
  launch::FarmPods pods_;
  session::Wanted wanted_;
  std::vector<launch::Host> seen_;
  Stopwatch since_change_;  // of what was seen
  std::vector<launch::Host> used_;
  bool has_told_of_leaving_ = false;  // of one in use
  bool may_grow_ = true;              // with what was seen
};

}  // namespace podere::cli
