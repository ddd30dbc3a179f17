// The files that a job reads.
#pragma once

#include <map>
#include <string>

#include "podere/io/byte_source.h"
#include "podere/jobs/job.h"

namespace podere::session {

/// The files that a job reads, as they were when this was made.
class Inputs {
 public:
  explicit Inputs(const jobs::Job& job);

  bool are_unchanged() const;
  /// Throws InputError if one has changed: a job that read it again would be another job.
  void check_unchanged() const;

 private:
  void add(const std::string& path) { versions_.emplace(path, io::version_of(path)); }
  std::map<std::string, io::SourceVersion> versions_;
};

}  // namespace podere::session
