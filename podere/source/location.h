// Where the rows of a source are, as users write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podere::source {

/// "collider:1e6?seed=3" is the path "1e6" with the query "seed=3" of the scheme "collider"; "s3://bucket/x.csv" the
/// path "bucket/x.csv" of the scheme "s3". All else is the path of a file.
struct Location {
  std::string scheme;
  std::string path;
  std::string query;  ///< behind "?", of schemes whose rows no bytes hold
  bool operator==(const Location&) const = default;
};

inline constexpr std::string_view kFileScheme = "file";
inline constexpr std::string_view kTableScheme = "table";  ///< of tables that executors keep

/// Knows the schemes of io::byte_schemes(), of readers() and kTableScheme. What looks like "name:..." otherwise is a
/// file. Throws InputError for "name://..." with a name that is not known, unless there is a file of that name.
Location parse_location(const std::string& text);

/// The name in "table:NAME"; nothing for other locations.
std::optional<std::string> kept_name(const std::string& location);

}  // namespace podere::source
