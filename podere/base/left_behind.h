// What processes that were killed leave in folders, found by those that come after them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace podere {

/// Between the name of what is written and the mark of name_to_own(), until it is whole.
inline constexpr const char* kPartSuffix = ".part-";

/// `prefix` and the mark of this host, to be completed by mkostemp or mkdtemp: "out.csv.part-" becomes
/// "out.csv.part-1f03a9-XXXXXX". Locks may not reach from host to host, where a folder is on several.
std::string name_to_own(const std::string& prefix);

/// What new files and folders are denied.
mode_t current_umask();

/// Says that what `descriptor` has open, just made under a name as above, is in use as long as it is open. False where
/// it was removed meanwhile: make another.
bool own(int descriptor);

/// Removes the files and folders in `folder` with such a name which no process owns any longer, if they are this
/// user's and of this host. What cannot be removed stays.
void remove_left_behind(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace podere
