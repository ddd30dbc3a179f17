#include "podere/jobs/tensorboard_summaries.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "podere/base/error.h"
#include "podere/jobs/job.h"

namespace podere::jobs {
namespace {

using io::EventFile;

EventFile::Moment moment_of(std::size_t n_steps) {
  const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {static_cast<std::int64_t>(n_steps), since_1970.count()};
}

/// A table in Markdown.
std::string options_text(const Json& options) {
  std::string text = "| option | value |\n|---|---|\n";
  for (const auto& [name, value] : options.items()) {
    const std::string shown = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : to_text(value);
    text += fmt::format("| {} | {} |\n", name, shown);
  }
  return text;
}

}  // namespace

TensorboardSummaries::TensorboardSummaries(const std::string& folder, std::size_t steps_apart,
                                           const comm::Communicator& comm, Progress& progress)
    : folder_(folder), steps_apart_(steps_apart), progress_(progress), is_on_(!folder.empty() && comm.is_root()) {
  comm.agree([&] {
    if (is_on_) has_files_ = io::check_event_folder(folder_);
  });
}

void TensorboardSummaries::begin(std::size_t n_steps, const Json& options) {
  if (has_files_) write([&](EventFile& file) { file.resume(moment_of(n_steps)); });
  write([&](EventFile& file) { file.text(moment_of(0), "options", options_text(options)); });
}

void TensorboardSummaries::scalars(std::size_t step, std::span<const std::pair<std::string, double>> values) {
  write([&](EventFile& file) { file.scalars(moment_of(step), values); });
}

void TensorboardSummaries::histogram(std::size_t step, const std::string& tag, std::span<const float> values) {
  write([&](EventFile& file) { file.histogram(moment_of(step), tag, values); });
}

void TensorboardSummaries::graph(std::span<const algorithm::GraphNode> nodes) {
  write([&](EventFile& file) { file.graph(moment_of(0).wall_time, nodes); });
}

void TensorboardSummaries::write(const std::function<void(EventFile& file)>& act) {
  if (!is_on_) return;
  try {
    if (!file_) file_.emplace(folder_, moment_of(0).wall_time);
    act(*file_);
  } catch (const Error& error) {
    if (std::exchange(has_warned_, true)) return;
    progress_.warn(fmt::format("not all can be written for TensorBoard: {}; training continues", error.what()));
  }
}

}  // namespace podere::jobs
