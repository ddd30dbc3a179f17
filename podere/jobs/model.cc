#include "podere/jobs/model.h"

#include <utility>

#include "podere/algorithm/model_file.h"
#include "podere/base/error.h"
#include "podere/catalog/catalog.h"

namespace podere::jobs {

std::string load_shared_text(const std::string& path, const comm::Communicator& comm) {
  std::string text;
  comm.agree([&] {
    if (comm.is_root()) text = algorithm::read_model_text(path);
  });
  return comm.broadcast_text(std::move(text));
}

std::unique_ptr<const algorithm::Model> load_shared_model(const std::string& path, const comm::Communicator& comm,
                                                          std::size_t rounds) {
  const std::string text = load_shared_text(path, comm);
  std::unique_ptr<const algorithm::Model> model;
  comm.agree([&] { model = catalog::model_from_text(text, path); });
  if (rounds == 0) return model;
  const std::size_t n_rounds = model->n_rounds();
  if (n_rounds == 0) throw_input_error("rounds is {}, but {} is {}, which has none", rounds, path, model->what());
  if (rounds > n_rounds) throw_input_error("rounds is {}, the model {} has {}", rounds, path, n_rounds);
  return model->first_rounds(rounds);
}

void check_has_rounds(const algorithm::Model& model, const std::string& path) {
  if (model.n_rounds() == 0) throw_input_error("{}: is {}, this is for boosted trees", path, model.what());
}

const algorithm::Explainable& need_explainable(const algorithm::Model& model, const std::string& path) {
  if (const auto* explainable = model.explainable()) return *explainable;
  throw_input_error("{}: is {}, this is for boosted trees", path, model.what());
}

std::vector<std::string> class_names(const algorithm::Model& model) {
  const table::LabelRules rules = model.label_rules();
  const bool has_classes = rules.kind == table::LabelKind::kTwoClasses || rules.kind == table::LabelKind::kClasses;
  if (!has_classes && table::uses_labels(rules)) return {};
  std::vector<std::string> names = model.schema().classes;
  const std::size_t n = has_classes ? std::max<std::size_t>(2, model.n_outputs()) : rules.n_classes;
  for (std::size_t k = names.size(); k < n; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace podere::jobs
