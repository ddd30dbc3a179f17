#include "podere/session/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/session/model.h"

namespace podere::session {
namespace {

constexpr double kShare = 20;  // of the time writing takes at most one part in so many

}  // namespace

Checkpoint::Checkpoint(std::string path, double interval_seconds, const comm::Communicator& comm, Progress& progress)
    : path_(std::move(path)), interval_seconds_(interval_seconds), comm_(comm), progress_(progress) {}

std::optional<std::string> Checkpoint::read() const {
  if (path_.empty()) return std::nullopt;
  const bool is_there = comm_.is_root() && std::filesystem::exists(path_);
  if (comm_.all_reduce(is_there ? 1 : 0, comm::Reduction::kMax) == 0) return std::nullopt;
  return load_shared_text(path_, comm_);
}

void Checkpoint::offer(const std::function<std::string()>& so_far, bool is_wanted) {
  if (path_.empty() || !comm_.is_root()) return;
  const bool is_due = since_written_.seconds() >= std::max(interval_seconds_, kShare * write_seconds_);
  if (!progress_.checkpoint_requested() && !is_due && !is_wanted) return;
  const Stopwatch watch;
  try {
    AtomicFile file(path_);
    file.write(so_far());
    file.commit();
    has_failed_ = false;
  } catch (const Error& error) {
    has_failed_ = true;
    if (!std::exchange(has_warned_, true)) {
      progress_.warn(fmt::format("no checkpoint could be written: {}; training goes on without", error.what()));
    }
  }
  write_seconds_ = watch.seconds();
  since_written_.restart();
}

}  // namespace podere::session
