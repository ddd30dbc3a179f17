// Whether a checkpoint is of the run that is to go on from it.
#pragma once

#include <string>

#include "podere/table/table.h"

namespace podere::table {

/// How the columns that two runs were trained on differ, such as "the data had 28 features, have 27"; empty if they are
/// alike.
std::string first_difference(const Schema& was, const Schema& is);

/// Throws InputError that tells `difference`, what the run that left the checkpoint had otherwise, and what to do,
/// unless it is empty.
void check_same_run(const std::string& difference);

}  // namespace podere::table
