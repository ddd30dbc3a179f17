// Categories of other programs, which number them in an order of their own.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "podere/base/json.h"
#include "podere/tree/model.h"

namespace podere::exchange {

/// The categories of a feature in the order of their codes, from texts, numbers and truth values as JSON has them.
/// Numbers alone are numbers; truth values become the texts True and False, as pandas writes them, and mixed
/// categories texts. Throws InputError for other values and for two that read the same.
table::CategoryTexts categories_from_json(const SortedJson& values);

/// The categories of features, by code of the program that the model is of.
using CategoriesByCode = std::map<std::size_t, table::CategoryTexts>;

/// Gives the schema of `model` these categories, sorted as Podere keeps them, and its trees the codes that go with
/// them. Throws InputError for a tree with a code that has no category.
void name_categories(tree::Model& model, const CategoriesByCode& categories);

/// Names of the features whose categories are codes: of which the file does not say what they mean.
std::vector<std::string> unnamed_categories(const table::Schema& schema);

}  // namespace podere::exchange
