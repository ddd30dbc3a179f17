// The folder in which a run over many pictures keeps what is done, so that a later one can do what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/comm/communicator.h"
#include "podere/image/list.h"

namespace podere::classify {

/// The contact sheet in it, if the run was to make one.
inline constexpr const char* kContactSheetName = "contact_sheet.html";

/// A folder with what was asked for (run.json), the pictures as they were listed at first (pictures.list), and part
/// files. Runs with other settings do not continue it. It may be on a file server: files that others have just made are
/// opened by their names, once they are closed, and not searched for.
class RunFolder {
 public:
  /// `settings` is all that results depend on. Throws InputError where the folder is of a run with others. Collective.
  RunFolder(std::filesystem::path path, const Json& settings, const comm::Communicator& comm);

  /// The pictures of `location`, as they were when the first run began. Rank 0 lists them. Collective; throws as
  /// image::list_pictures.
  image::PictureList pictures(const std::string& location, image::Pages pages, const comm::Communicator& comm) const;

  /// The part files of the runs before this one, on rank 0.
  std::vector<std::filesystem::path> earlier_parts() const;
  /// The part file of a rank in this run: no run before had it.
  std::filesystem::path part(int rank) const;

 private:
  std::filesystem::path path_;
  std::uint64_t run_ = 0;
  std::vector<std::string> earlier_;
};

/// Makes the folder if it is not there. Throws InputError where it cannot be made, as where a file has its name.
void make_run_folder(const std::filesystem::path& run_folder);

/// How many bytes of results the folder has; 0 if it is not there, nothing if it cannot be read.
std::optional<std::uintmax_t> result_bytes(const std::filesystem::path& run_folder);

/// The message of a run that ended early, with what it left behind and how to continue, if that is more than the
/// `n_before` bytes that there were. `message` may be empty.
std::string with_advice(const std::string& message, const std::filesystem::path& run_folder,
                        std::optional<std::uintmax_t> n_before, bool is_strict);

/// Removes what a run keeps. The folder stays.
void remove_run(const std::filesystem::path& run_folder);

}  // namespace podere::classify
