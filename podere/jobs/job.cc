#include "podere/jobs/job.h"

#include <limits>

#include "podere/jobs/job_kinds.h"

namespace podere::jobs {

std::vector<const source::SourceSpec*> Job::sources() const {
  const Parts parts = this->parts();
  return {parts.sources.begin(), parts.sources.end()};
}

std::vector<std::pair<PathUse, std::string*>> Job::paths() {
  auto paths = parts().paths;
  std::erase_if(paths, [](const auto& path) { return path.second->empty(); });
  return paths;
}

std::vector<std::pair<PathUse, std::string>> Job::paths() const {
  std::vector<std::pair<PathUse, std::string>> paths;
  for (const auto& [use, path] : parts().paths) {
    if (!path->empty()) paths.emplace_back(use, *path);
  }
  return paths;
}

std::string* Job::path(PathUse use) {
  for (const auto& [its_use, path] : parts().paths) {
    if (its_use == use) return path;
  }
  return nullptr;
}

std::string Job::path(PathUse use) const {
  for (const auto& [its_use, path] : parts().paths) {
    if (its_use == use) return *path;
  }
  return {};
}

Json to_json(const Job& job) {
  Json json = {{"kind", job.kind()}};
  json.update(job.held_->fields());
  return json;
}

Job job_from_json(const Json& json) {
  std::string kind;
  if (json.is_object() && json.contains("kind")) read_json(json["kind"], "job: kind", kind);
  Job job = job_of_kind(kind);
  Json fields = json;
  fields.erase("kind");
  job.held_->read(fields);
  const Job::Parts parts = job.parts();
  for (std::size_t i = 0; i < parts.sources.size(); ++i) {
    if (parts.sources[i]->location.empty()) {
      throw_input_error("job: {}.{}.location is missing", kind, parts.source_names[i]);
    }
  }
  return job;
}

Job with_checkpoint(Job job, const std::string& path) {
  std::string* const own = job.path(PathUse::kCheckpoint);
  if (own != nullptr && own->empty()) *own = path;
  return job;
}

}  // namespace podere::jobs
