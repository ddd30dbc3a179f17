// Files in folders and by patterns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace podere {

struct FindRules {
  std::size_t most_files;          ///< more are an InputError
  bool skips_underscores = false;  ///< names that begin with _ are left out, as those that begin with . always are
};

bool is_folder(const std::filesystem::path& path);

/// Whether there is *, ? or [ in it.
bool is_pattern(std::string_view location);

/// Adds the paths of all files in and below `folder`, in no order. Links are followed, but not those that lead back to
/// a folder that they lie in. Throws InputError.
void find_files_in(const std::filesystem::path& folder, const FindRules& rules, std::vector<std::string>& paths);

/// The paths that fit a pattern, and those of the files in folders that do, in the order of bytes, each once. Throws
/// InputError; not if there are none.
std::vector<std::string> find_fitting_files(const std::string& pattern, const FindRules& rules);

}  // namespace podere
