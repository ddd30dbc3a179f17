// The texts that mean a missing value.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace podere::io {

/// In a table where a file has no value.
inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Those that mean a missing value unless others are chosen: those of pandas' read_csv, and "?", as of UCI's tables.
std::vector<std::string> usual_missing_tokens();

/// The texts that mean a missing value.
class MissingTokens {
 public:
  explicit MissingTokens(const std::vector<std::string>& tokens);
  bool holds(std::string_view text) const;
  /// A token that is a number means every spelling of that number (-999 also for -999.0).
  bool holds(float value) const;
  bool holds_numbers() const { return !numbers_.empty(); }

 private:
  std::vector<std::string> texts_;
  std::vector<float> numbers_;
};

}  // namespace podere::io
