#include "podere/io/read_facts.h"

#include <strings.h>

#include <algorithm>
#include <array>

namespace podere::io {

std::vector<std::size_t> usual_labels(const std::vector<std::string>& names) {
  const auto is_usual = [](const std::string& name) {
    return std::ranges::any_of(std::array{"label", "target", "class", "y"},
                               [&](const char* usual) { return strcasecmp(name.c_str(), usual) == 0; });
  };
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_usual(names[i])) found.push_back(i);
  }
  return found;
}

}  // namespace podere::io
