// The algorithms that there are, and their models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/algorithm.h"

namespace podere::catalog {

/// A line each in catalog.cc.
const std::vector<const algorithm::Algorithm*>& algorithms();

/// Throws InputError that names those that there are.
const algorithm::Algorithm& algorithm_called(const std::string& name);

/// The model of a file's content, by its format. Throws InputError, beginning with `name`, for a text that is none, or
/// not a whole one.
std::unique_ptr<const algorithm::Model> model_from_text(const std::string& text, const std::string& name);

}  // namespace podere::catalog
