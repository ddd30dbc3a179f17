#include "podere/source/location.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "podere/base/error.h"
#include "podere/io/byte_source.h"
#include "podere/source/readers.h"

namespace podere::source {
namespace {

constexpr std::string_view kAuthority = "//";

/// What stands before ":" if it may be the name of a scheme (RFC 3986); two letters at least, as Windows has drives.
std::string_view scheme_in(std::string_view text) {
  const std::string_view name = text.substr(0, std::min(text.find(':'), text.size()));
  const auto is_allowed = [](char c) {
    return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const bool is_name = name.size() >= 2 && name.size() < text.size() && 'a' <= name[0] && name[0] <= 'z';
  return is_name && std::ranges::all_of(name, is_allowed) ? name : std::string_view();
}

bool is_byte_scheme(std::string_view scheme) {
  return std::ranges::any_of(io::byte_schemes().subspan(1), [&](const auto& known) { return known.name == scheme; });
}

[[noreturn]] void refuse_scheme(const std::string& text, std::string_view scheme) {
  std::vector<std::string> allowed = {"a path"};
  for (const auto& known : io::byte_schemes().subspan(1)) allowed.push_back(fmt::format("{}://", known.name));
  for (const Reader& reader : readers()) {
    if (reader.reads == Reads::kScheme) allowed.push_back(fmt::format("{}:", reader.name));
  }
  allowed.push_back(fmt::format("{}:", kTableScheme));
  throw_input_error("{}: scheme '{}' is not known; allowed are {}", text, scheme, fmt::join(allowed, ", "));
}

}  // namespace

Location parse_location(const std::string& text) {
  const std::string_view scheme = scheme_in(text);
  Location file = {.scheme = std::string(kFileScheme), .path = text, .query = ""};
  if (scheme.empty()) return file;
  const std::string rest = text.substr(scheme.size() + 1);
  if (scheme == kTableScheme) return {.scheme = std::string(scheme), .path = rest, .query = ""};
  if (reader_of_scheme(scheme) != nullptr) {
    const auto question = std::min(rest.find('?'), rest.size());
    return {.scheme = std::string(scheme),
            .path = rest.substr(0, question),
            .query = question < rest.size() ? rest.substr(question + 1) : ""};
  }
  if (!rest.starts_with(kAuthority)) return file;
  if (is_byte_scheme(scheme)) {
    return {.scheme = std::string(scheme), .path = rest.substr(kAuthority.size()), .query = ""};
  }
  std::error_code unknown;  // what cannot be looked at is no file
  if (!std::filesystem::exists(text, unknown)) refuse_scheme(text, scheme);
  return file;
}

std::optional<std::string> kept_name(const std::string& location) {
  const std::string prefix = std::string(kTableScheme) + ":";
  if (!location.starts_with(prefix)) return std::nullopt;
  return location.substr(prefix.size());
}

}  // namespace podere::source
