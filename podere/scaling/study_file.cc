#include "podere/scaling/study_file.h"

#include <system_error>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/read_file.h"
#include "podere/report/page.h"

namespace podere::scaling {
namespace {

const std::filesystem::path& checked(const std::filesystem::path& path) {
  report::check_is_file(path);
  return path;
}

}  // namespace

StudyFile::StudyFile(std::filesystem::path path) : path_(std::move(path)), lock_(checked(path_)) {}

void StudyFile::read_into(Study& study) const {
  std::error_code unknown;  // what cannot be looked at cannot be read, which says why
  if (std::filesystem::status(path_, unknown).type() == std::filesystem::file_type::not_found) return;
  const Study found = study_of_text(read_file(path_), path_.string());
  if (found.command != study.command || found.weak_rows != study.weak_rows) {
    throw_input_error("-o {}: holds times of another command, {}: choose another file", path_.string(), found.command);
  }
  if (found.cpu != study.cpu || found.usable_cores != study.usable_cores) {
    throw_input_error("-o {}: holds times of another machine, {} with {} usable cores: choose another file",
                      path_.string(), found.cpu, found.usable_cores);
  }
  study.runs = found.runs;
  study.network = found.network;
}

void StudyFile::write(const Json& study) const {
  AtomicFile file(path_);
  file.write(to_text(study) + "\n");
  file.commit();
}

}  // namespace podere::scaling
