// Summaries of a run in files of TensorBoard.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "podere/algorithm/summaries.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/io/event_file.h"

namespace podere::jobs {

/// Rank 0 writes into a file of `folder`, which it makes once there is something to write; without a folder, and on
/// other ranks, nothing is done. Steps that were lost with an executor are written again by the group that makes up for
/// them. What cannot be written any more, for want of room, is warned of once, and the run continues.
class TensorboardSummaries final : public algorithm::Summaries {
 public:
  /// `comm` and `progress` outlive this. Collective. Throws InputError on all ranks if there can be no such folder.
  TensorboardSummaries(const std::string& folder, std::size_t steps_apart, const comm::Communicator& comm,
                       Progress& progress);

  bool are_wanted() const override { return is_on_; }
  std::size_t steps_apart() const override { return steps_apart_; }
  void begin(std::size_t n_steps, const Json& options) override;
  void scalars(std::size_t step, std::span<const std::pair<std::string, double>> values) override;
  void histogram(std::size_t step, const std::string& tag, std::span<const float> values) override;
  void graph(std::span<const algorithm::GraphNode> nodes) override;

 private:
  void write(const std::function<void(io::EventFile& file)>& act);

  const std::string folder_;
  const std::size_t steps_apart_;
  Progress& progress_;
  const bool is_on_;
  std::optional<io::EventFile> file_;
  bool has_files_ = false;  // of others, in the folder
  bool has_warned_ = false;
};

}  // namespace podere::jobs
