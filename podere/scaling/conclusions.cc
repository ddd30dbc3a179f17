#include "podere/scaling/conclusions.h"

#include <algorithm>
#include <tuple>

namespace podere::scaling {

Conclusions conclude(const Study& study, const Wanted& wanted) {
  Conclusions found{
      .points = points_of(study), .model = {}, .suggestion = {}, .papers = paper_figure_of(study.command)};
  if (!wanted.modeled_cores.empty()) {
    found.model = fit(study, wanted.network);
    std::ranges::copy(modeled_points(study, *found.model, wanted.modeled_cores), std::back_inserter(found.points));
    std::ranges::stable_sort(found.points, {},
                             [](const Point& point) { return std::tuple(point.total_cores(), point.executors); });
  }
  if (wanted.suggests) found.suggestion = suggest(study, found.model);
  return found;
}

Json to_json(const Study& study, const Conclusions& conclusions) {
  Json json = to_json(study);
  json["points"] = Json::array();
  for (const Point& point : conclusions.points) json["points"].push_back(to_json(point));
  json["model"] = conclusions.model ? to_json(*conclusions.model) : Json();
  json["suggestion"] = conclusions.suggestion ? to_json(*conclusions.suggestion) : Json();
  json["papers"] = conclusions.papers ? to_json(*conclusions.papers) : Json();
  return json;
}

}  // namespace podere::scaling
