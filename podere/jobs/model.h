// Model files, as jobs use them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/comm/communicator.h"

namespace podere::jobs {

/// The content of a file that rank 0 can read, on all ranks. Collective. Throws InputError on all ranks.
std::string load_shared_text(const std::string& path, const comm::Communicator& comm);

/// The model of a file that rank 0 can read, on all ranks; the first `rounds` only, or all for 0. Collective. Throws
/// InputError on all ranks, for rounds that it does not have, too.
std::unique_ptr<const algorithm::Model> load_shared_model(const std::string& path, const comm::Communicator& comm,
                                                          std::size_t rounds = 0);

/// Throws InputError, "{path}: ...", unless the model grows by rounds, or explains itself.
void check_has_rounds(const algorithm::Model& model, const std::string& path);
const algorithm::Explainable& need_explainable(const algorithm::Model& model, const std::string& path);

/// What a model's classes or clusters are called: by their texts, else by their numbers. Empty where it predicts
/// numbers.
std::vector<std::string> class_names(const algorithm::Model& model);

}  // namespace podere::jobs
