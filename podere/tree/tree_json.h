// A tree in a model file.
#pragma once

#include "podere/base/json.h"
#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// Column by column: one array for each member of its nodes.
Json to_json(const Tree& tree);
/// Inverse of to_json. Throws InputError, or the exceptions of Json, for what is no tree. What it returns may lead out
/// of bounds.
Tree tree_from_json(const Json& json);
/// Throws InputError for a tree in which a walk from the root could leave the tree or never end, or which does not fit
/// the features of `schema`.
void check_tree(const Tree& tree, const table::Schema& schema);

}  // namespace podere::tree
