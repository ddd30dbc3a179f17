#include "podere/evaluate/history.h"

#include <algorithm>

#include "podere/base/json.h"
#include "podere/base/json_fields.h"

namespace podere::evaluate {
namespace {

void cut(std::vector<double>& losses, std::size_t n, std::vector<double>& later) {
  const auto end = losses.begin() + static_cast<std::ptrdiff_t>(std::min(n, losses.size()));
  later.assign(end, losses.end());
  losses.erase(end, losses.end());
}

}  // namespace

void History::keep(std::size_t n) {
  cut(train_loss, n, later_train_loss);
  cut(validation_loss, n, later_validation_loss);
}

Json to_json(const History& history) {
  Json json = {{"train_loss", history.train_loss}, {"validation_loss", history.validation_loss}};
  if (!history.later_train_loss.empty()) {
    json["later_train_loss"] = history.later_train_loss;
    json["later_validation_loss"] = history.later_validation_loss;
  }
  return json;
}

History history_from_json(const Json& json) {
  History history;
  read_json(json.at("train_loss"), "train_loss", history.train_loss);
  read_json(json.at("validation_loss"), "validation_loss", history.validation_loss);
  if (json.contains("later_train_loss")) {
    read_json(json["later_train_loss"], "later_train_loss", history.later_train_loss);
    read_json(json.at("later_validation_loss"), "later_validation_loss", history.later_validation_loss);
  }
  return history;
}

}  // namespace podere::evaluate
