// The names of a network's classes, in a file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace podere::classify {

/// One a line, in the order of the network's output. Throws InputError where they are not `n_classes` names, or are no
/// UTF-8 text.
std::vector<std::string> read_class_names(const std::string& path, std::size_t n_classes);

/// Which names several classes have, and their lines: "'crane' is in the lines 135 and 518"; empty: none. The usual
/// names of ImageNet's classes are such.
std::string repeated_names(std::span<const std::string> names);

}  // namespace podere::classify
