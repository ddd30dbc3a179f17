#include "podere/session/inputs.h"

#include <algorithm>

#include "podere/base/error.h"

namespace podere::session {

Inputs::Inputs(const jobs::Job& job) {
  for (const source::SourceSpec* source : job.sources()) {
    for (const std::string& path : source::files_of(*source)) add(path);
  }
  for (const auto& [use, path] : job.paths()) {
    if (use == jobs::PathUse::kInput) add(path);
  }
}

bool Inputs::are_unchanged() const {
  return std::ranges::all_of(versions_, [](const auto& entry) { return io::version_of(entry.first) == entry.second; });
}

void Inputs::check_unchanged() const {
  for (const auto& [path, version] : versions_) {
    if (io::version_of(path) == version) continue;
    throw_input_error("{}: changed since it was read, so executors that were lost cannot be made up for", path);
  }
}

}  // namespace podere::session
