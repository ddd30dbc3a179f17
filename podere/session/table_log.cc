#include "podere/session/table_log.h"

#include <algorithm>
#include <set>

#include "podere/base/error.h"
#include "podere/jobs/kept_tables.h"

namespace podere::session {

std::vector<std::string> tables_used(const jobs::Job& job) {
  std::vector<std::string> names;
  for (const source::SourceSpec* source : job.sources()) {
    if (const auto name = source::kept_name(source->location)) names.push_back(*name);
  }
  if (const std::string dropped = job.dropped_table(); !dropped.empty()) names.push_back(dropped);
  return names;
}

void TableLog::note(const jobs::Job& job, const Inputs& inputs, const Json& result) {
  const auto made = result.find("tables");
  const std::string dropped = job.dropped_table();
  if (made == result.end() && dropped.empty()) return;
  Step step{job, inputs, ++last_number_, {}};
  step.job.note_result(result);
  for (const std::string& name : tables_used(job)) {
    if (const auto maker = maker_.find(name); maker != maker_.end()) step.needs.push_back(maker->second);
  }
  steps_.push_back(std::move(step));
  maker_.erase(dropped);
  tables_.erase(dropped);
  for (const Json& table : made == result.end() ? Json::array() : *made) {
    const auto name = table.at("name").get<std::string>();
    maker_[name] = last_number_;
    tables_[name] = table;
    gone_.erase(name);
  }
  forget_what_is_not_needed();
}

void TableLog::forget_what_is_not_needed() {
  std::set<int> needed;
  for (const auto& [name, number] : maker_) needed.insert(number);
  const auto is_drop = [](const Step& step) { return !step.job.dropped_table().empty(); };
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (!is_drop(*step) && needed.contains(step->number)) needed.insert(step->needs.begin(), step->needs.end());
  }
  // What was dropped is dropped again if it is made again.
  std::erase_if(steps_,
                [&](const Step& step) { return !needed.contains(is_drop(step) ? step.needs.at(0) : step.number); });
}

void TableLog::lose(int number, const std::string& cause) {
  std::set<int> lost = {number};
  for (const Step& step : steps_) {
    if (std::ranges::any_of(step.needs, [&](int need) { return lost.contains(need); })) lost.insert(step.number);
  }
  for (const auto& [name, maker] : maker_) {
    if (lost.contains(maker)) gone_[name] = cause;
  }
  std::erase_if(maker_, [&](const auto& entry) { return lost.contains(entry.second); });
  std::erase_if(tables_, [&](const auto& entry) { return gone_.contains(entry.first); });
  std::erase_if(steps_, [&](const Step& step) { return lost.contains(step.number); });
}

void TableLog::check_usable(const jobs::Job& job) const {
  for (const std::string& name : tables_used(job)) {
    const auto found = gone_.find(name);
    if (found != gone_.end()) throw_input_error("table {} was lost with its executors: {}", name, found->second);
  }
}

}  // namespace podere::session
