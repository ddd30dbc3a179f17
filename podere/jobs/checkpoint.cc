#include "podere/jobs/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/jobs/model.h"

namespace podere::jobs {
namespace {

constexpr double kShare = 20;  // of the time writing takes at most one part in so many
constexpr double kFirstRetrySeconds = 2;
constexpr const char* kWhatToDo = "; remove it, or give another file for checkpoints";

}  // namespace

void check_is_place_for_checkpoint(const std::string& path, const char* what) {
  std::error_code unknown;  // what cannot be looked at cannot be written either, which says why
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw_input_error("{} {}: is {}, a file is needed", what, path,
                    std::filesystem::is_directory(status) ? "a directory" : "a pipe or a device");
}

Checkpoint::Checkpoint(std::string path, double interval_seconds, const comm::Communicator& comm, Progress& progress)
    : path_(std::move(path)), interval_seconds_(interval_seconds), comm_(comm), progress_(progress) {}

void Checkpoint::read(const std::function<void(const std::string& text)>& take) const {
  if (path_.empty()) return;
  bool is_there = false;
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    check_is_place_for_checkpoint(path_);
    is_there = std::filesystem::exists(path_) && std::filesystem::file_size(path_) > 0;
    if (!is_there && std::filesystem::exists(path_)) {
      progress_.warn(fmt::format("checkpoint {} is empty: training begins at the beginning", path_));
    }
    std::ifstream file(path_);
    if (is_there && file && (file >> std::ws).peek() != '{') {
      throw_input_error("checkpoint {}: is something else{}", path_, kWhatToDo);
    }
  });
  if (comm_.all_reduce(is_there ? 1 : 0, comm::Reduction::kMax) == 0) return;
  try {
    const std::string text = load_shared_text(path_, comm_);
    comm_.agree([&] { take(text); });
  } catch (const InputError& error) {  // the same on all ranks
    throw_input_error("checkpoint {}{}", error.what(), kWhatToDo);
  }
}

void Checkpoint::offer(const std::function<std::string()>& so_far, bool is_wanted) {
  if (path_.empty() || !comm_.is_root()) return;
  const double patience = std::max(interval_seconds_, kShare * write_seconds_) + retry_seconds_;
  const bool is_due = since_written_.seconds() >= patience;
  if (!progress_.checkpoint_requested() && !is_due && !is_wanted) return;
  const Stopwatch watch;
  try {
    AtomicFile file(path_);
    file.write(so_far());
    file.commit();
    has_failed_ = false;
    retry_seconds_ = 0;
  } catch (const Error& error) {
    has_failed_ = true;
    retry_seconds_ = std::max(kFirstRetrySeconds, 2 * retry_seconds_);  // a full disk is slow, and seldom soon empty
    if (!std::exchange(has_warned_, true)) {
      progress_.warn(fmt::format("no checkpoint could be written: {}; training continues without", error.what()));
    }
  }
  write_seconds_ = watch.seconds();
  since_written_.restart();
}

}  // namespace podere::jobs
