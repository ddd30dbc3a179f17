#include "podere/source/source_spec.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "podere/base/json_fields.h"

namespace podere::source {

std::vector<std::string> choices_of(const SourceSpec& spec) {
  constexpr std::array<std::string_view, 5> kNotHowToRead = {"location", "first_row", "last_row", "arrays", "classes"};
  std::vector<std::string> choices;
  const Json fields = json_of_fields(spec);
  for (const auto& [name, value] : fields.items()) {
    if (std::ranges::find(kNotHowToRead, name) == kNotHowToRead.end()) choices.push_back(name);
  }
  return choices;
}

std::string option_name(const std::string& field) {
  std::string name = field.starts_with("n_") ? field.substr(2) : field;
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace podere::source
