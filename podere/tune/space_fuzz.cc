// libFuzzer program of spaces. A text is a space or an InputError of one line; a space has settings at the corners and
// in the middle of its cube, in which all searches find what they need.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/tune/searches.h"

namespace {

using namespace podere;
using namespace podere::tune;

void check_line(const InputError& error) {
  const std::string message = error.what();
  if (message.empty() || message.find_first_of("\n\r\x1b") != std::string::npos) std::abort();
}

void check_bounds(const Space& space, const Json& setting) {
  for (const Parameter& parameter : space.parameters()) {
    const bool is_range = parameter.kind == Parameter::Kind::kReal || parameter.kind == Parameter::Kind::kInteger;
    const auto value = setting.find(parameter.name);
    if (!is_range || value == setting.end()) continue;
    const auto number = value->get<double>();
    if (!(number >= parameter.low && number <= parameter.high)) std::abort();
  }
}

void suggest(const std::string& name, const Space& space) {
  const auto search = search_called(name, space, 1);
  std::vector<Observation> seen;
  for (std::size_t trial = 0; trial < search->n_most().value_or(14) && trial < 14; ++trial) {
    Json setting = search->suggest(trial, seen);
    check_bounds(space, setting);
    seen.push_back({.trial = trial, .setting = std::move(setting), .loss = std::cos(trial), .budget = 1});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  try {
    const Space space = Space::from_toml(std::string(reinterpret_cast<const char*>(bytes), n_bytes), "fuzz.toml");
    for (const double coordinate : {0.0, 0.5, 1 - 0x1p-53}) {
      check_bounds(space, space.setting_at(std::vector<double>(space.n_dimensions(), coordinate)));
    }
    for (const std::string& name : search_names()) {
      try {
        suggest(name, space);
      } catch (const InputError& error) {
        check_line(error);
      }
    }
  } catch (const InputError& error) {
    check_line(error);
  }
  return 0;
}
