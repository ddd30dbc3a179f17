#include "podere/session/command_page.h"

#include <unistd.h>

#include <utility>

namespace podere::session {
namespace {

constexpr double kBetweenLooks = 0.5;  // seconds

}  // namespace

CommandPage::CommandPage(const std::string& address, report::RunTitle title, const Session::Options& wanted,
                         Progress& next)
    : next_(next),
      status_{{"wanted", wanted.n_executors}, {"least", wanted.least}, {"cores", 0},        {"each", Json::array()},
              {"tables", Json::array()},      {"waits_for", nullptr},  {"session", nullptr}} {
  const std::string command = title.command;
  job_ = queue_.add({}, {{"kind", command}}, title);
  queue_.next(0);
  page_ =
      std::make_unique<LivePage>(LivePage::Options{.address = address, .status = [this] { return status(); }}, runs_);
  runs_.begin(job_, std::move(title));
  if (page_->has_moved()) next_.warn(address + " is in use: the page has another port");
  next_.warn("page: " + link());
}

void CommandPage::fail(const std::string& message) {
  session_ = nullptr;
  if (std::exchange(has_ended_, true)) return;  // what fails after the result is no failure of the job
  runs_.end(job_, nullptr, message.empty() ? "interrupted" : "failed");
  queue_.finish(job_, message.empty() ? JobQueue::State::kCancelled : JobQueue::State::kFailed, message);
}

void CommandPage::watch(const Session& session) {
  session_ = &session;
  refresh();
}

void CommandPage::end(const Json& result) {
  session_ = nullptr;
  runs_.end(job_, shown_of(result));
  queue_.finish(job_, JobQueue::State::kDone);
  has_ended_ = true;
}

void CommandPage::report(const ProgressStep& step) {
  runs_.report(job_, step);
  queue_.note_step(job_, step);
  next_.report(step);
}

void CommandPage::warn(const std::string& message) {
  last_words_ = message;
  runs_.warn(job_, message);
  next_.warn(message);
}

bool CommandPage::stop_requested() {
  if (!since_refresh_ || since_refresh_->seconds() > kBetweenLooks) refresh();
  return next_.stop_requested();
}

void CommandPage::refresh() {
  since_refresh_.emplace();
  Json each = session_ != nullptr ? to_json(session_->executors()) : Json::array();
  const std::lock_guard lock(mutex_);
  if (session_ != nullptr) status_["cores"] = session_->n_cores();
  status_["waits_for"] = each.empty() && !last_words_.empty() ? Json(last_words_) : Json();
  status_["each"] = std::move(each);
}

Json CommandPage::status() const {
  const std::lock_guard lock(mutex_);
  Json status = status_;
  status["jobs"] = queue_.describe();
  return status;
}

}  // namespace podere::session
