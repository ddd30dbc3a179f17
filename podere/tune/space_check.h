// Which parameters can be a space.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "podere/tune/space.h"

namespace podere::tune {

inline constexpr double kMostWhole = 0x1p53;  ///< up to here JSON and double have all whole numbers
inline constexpr std::size_t kMostParameters = 1000;
inline constexpr std::size_t kMostChoices = 1000;

/// The parameters, parents before their children; those with a single value are fixed. Throws InputError whose message
/// begins with where() of the parameter, or of the empty name where it is about all of them.
std::vector<Parameter> checked_parameters(std::vector<Parameter> parameters,
                                          const std::function<std::string(const std::string& name)>& where);

}  // namespace podere::tune
