// The folder in which a run over many pictures keeps what is done, so that a later one can do what is left.
#pragma once

#include <filesystem>
#include <string>

#include "podere/base/json.h"
#include "podere/comm/communicator.h"
#include "podere/image/list.h"

namespace podere::classify {

/// A folder with what was asked for (run.json), the pictures as they were listed at first (pictures.list), and part
/// files. Runs with other settings do not continue it.
class RunFolder {
 public:
  /// `settings` is all that results depend on. Throws InputError where the folder is of a run with others. Collective.
  RunFolder(std::filesystem::path path, const Json& settings, const comm::Communicator& comm);

  const std::filesystem::path& path() const { return path_; }
  /// Whether runs before left something.
  bool is_continued() const { return is_continued_; }

  /// The pictures of `location`, as they were when the first run began. Collective; throws as image::list_pictures.
  image::PictureList pictures(const std::string& location, const comm::Communicator& comm) const;

  /// Where the part file of this rank is to be: no run before had it. Collective.
  std::filesystem::path new_part(const comm::Communicator& comm) const;

 private:
  std::filesystem::path path_;
  bool is_continued_ = false;
};

}  // namespace podere::classify
