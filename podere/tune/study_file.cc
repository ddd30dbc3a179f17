#include "podere/tune/study_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include "podere/base/error.h"

namespace podere::tune {
namespace {

/// Records of a journal, by Optuna's numbers.
enum class Record {
  kCreateStudy = 0,
  kStudyAttribute = 2,
  kCreateTrial = 4,
  kParameter = 5,
  kTrialState = 6,
  kIntermediateValue = 7,
  kTrialAttribute = 8,
};

constexpr const char* kRunAttribute = "podere";
constexpr const char* kSettingAttribute = "setting";
constexpr const char* kStepAttribute = "after ";
constexpr std::string_view kFirstBytes = R"({"op_code":0,"worker_id":"podere",)";

Json record_of(Record kind, const Json& fields) {
  Json record = {{"op_code", static_cast<int>(kind)}, {"worker_id", "podere"}};
  record.update(fields);
  return record;
}

Json record_of_trial(Record kind, std::size_t trial, const Json& fields) {
  Json record = record_of(kind, {{"trial_id", trial}});
  record.update(fields);
  return record;
}

/// "2026-11-28T08:24:25.123456", in local time, as Optuna has it.
std::string time_text() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return fmt::format("{}.{:06d}", text, micros);
}

Json distribution_of(const Parameter& parameter) {
  const bool is_integer = parameter.kind == Parameter::Kind::kInteger;
  if (parameter.kind == Parameter::Kind::kChoice) {
    return {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", parameter.choices}}}};
  }
  const auto number = [&](double value) { return is_integer ? Json(std::llround(value)) : Json(value); };
  const Json step = parameter.step > 0 ? number(parameter.step) : is_integer ? Json(1) : Json();
  return {
      {"name", is_integer ? "IntDistribution" : "FloatDistribution"},
      {"attributes",
       {{"log", parameter.is_log}, {"step", step}, {"low", number(parameter.low)}, {"high", number(parameter.high)}}}};
}

/// A value as journals have it: the place of a choice, else the number.
double journal_value(const Parameter& parameter, const Json& value) {
  if (parameter.kind != Parameter::Kind::kChoice) return value.get<double>();
  return static_cast<double>(std::ranges::find(parameter.choices, value) - parameter.choices.begin());
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json to_json(const StepResult& result) {
  return {{"loss", number_or_null(result.loss)}, {"ended", result.ended}, {"facts", result.facts}};
}

/// Throws InputError for what is none.
const Json& object_of(const Json& json) {
  if (!json.is_object()) throw InputError("no object");
  return json;
}

/// What a study is; texts are texts. Throws Json::exception or InputError.
const Json& run_of(const Json& json) {
  for (const char* name : {"algorithm", "search", "schedule", "score"}) {
    if (object_of(json).contains(name) && !json.at(name).is_string()) throw InputError("no text");
  }
  return json;
}

StepResult step_result(const Json& json) {
  const Json& loss = json.at("loss");
  return {loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>(), json.at("ended").get<bool>(),
          object_of(json.at("facts"))};
}

/// Throws InputError for what is no whole number from 0.
std::size_t whole_number(const Json& json) {
  if (!json.is_number_unsigned()) throw InputError("no whole number");
  return json.get<std::size_t>();
}

/// That of "after 12".
std::size_t budget_of(const std::string& attribute) {
  return whole_number(Json::parse(attribute.substr(std::strlen(kStepAttribute))));
}

/// Takes a record in. Throws Json::exception or InputError for members that are missing or of another type.
void take(const Json& record, RecordedStudy& study) {
  const auto trial = [&]() -> RecordedTrial& { return study.trials.at(whole_number(record.at("trial_id"))); };
  switch (static_cast<Record>(whole_number(record.at("op_code")))) {
    case Record::kCreateStudy:
      study.head.name = record.at("study_name").get<std::string>();
      study.head.is_maximized = whole_number(record.at("directions").at(0)) == 2;
      break;
    case Record::kStudyAttribute:
      if (record.at("user_attr").contains(kRunAttribute))
        study.head.run = run_of(record.at("user_attr").at(kRunAttribute));
      break;
    case Record::kCreateTrial:
      study.trials.emplace_back();
      break;
    case Record::kTrialState: {
      const std::size_t state = whole_number(record.at("state"));
      if (state <= 3) trial().state = static_cast<RecordedTrial::State>(state);
      break;
    }
    case Record::kTrialAttribute:
      for (const auto& [name, value] : record.at("user_attr").items()) {
        if (name == kSettingAttribute) trial().setting = object_of(value);
        if (!name.starts_with(kStepAttribute)) continue;
        trial().done[budget_of(name)] = step_result(value);
      }
      break;
    default:
      break;  // of what dashboards and others add
  }
}

std::string first_bytes_of(Record kind) { return fmt::format("{{\"op_code\":{},", static_cast<int>(kind)); }

/// Whether more lines about a step follow a line.
bool is_part_of_step(std::string_view line) {
  const bool is_setting = line.find(fmt::format("\"user_attr\":{{\"{}\"", kSettingAttribute)) != std::string_view::npos;
  return is_setting ||
         std::ranges::any_of(std::array{Record::kCreateTrial, Record::kParameter, Record::kIntermediateValue},
                             [&](Record kind) { return line.starts_with(first_bytes_of(kind)); });
}

/// Up to the end of the last step that is whole.
std::size_t whole_size(std::string_view text) {
  std::size_t size = text.rfind('\n') + 1;
  while (size > 0) {
    const std::size_t newline = size < 2 ? std::string_view::npos : text.rfind('\n', size - 2);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (!is_part_of_step(text.substr(begin, size - begin))) break;
    size = begin;
  }
  return size;
}

/// Whether it is a journal of Podere's that was cut before it said of what it is.
bool is_cut_head(std::string_view text) {
  return std::ranges::count(text, '\n') < 2 && (text.starts_with(kFirstBytes) || kFirstBytes.starts_with(text));
}

}  // namespace

RecordedStudy study_from_text(const std::string& text, const std::string& name) {
  RecordedStudy study;
  std::size_t line = 1;
  const std::size_t size = whole_size(text);
  for (std::size_t begin = 0; begin < size; ++line) {
    const std::size_t end = text.find('\n', begin);
    try {
      take(Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                       text.begin() + static_cast<std::ptrdiff_t>(end)),
           study);
    } catch (const std::exception&) {
      throw_input_error("{}, line {}: is no record of a study; give the file that podere tune --study wrote", name,
                        line);
    }
    begin = end + 1;
  }
  if (!study.head.run.is_object()) {
    throw_input_error("{}: is no study of podere tune{}", name, text.empty() ? ": it is empty" : "");
  }
  return study;
}

StudyWriter::StudyWriter(const std::string& path, const Space& space)
    : path_(path), parameters_(space.parameters()), lock_(path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw_input_error("{}: a file is needed", path);
  }
  file_ = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  is_new_ = file_ < 0 && errno == ENOENT;
  if (is_new_) file_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw_input_error("{}: {}", path, std::strerror(errno));
  std::ifstream stream(path);
  text_.assign(std::istreambuf_iterator<char>(stream), {});
  size_when_opened_ = text_.size();
  if (is_cut_head(text_)) text_.clear();
  const std::string_view whole = std::string_view(text_).substr(0, whole_size(text_));
  for (std::size_t begin = 0; begin < whole.size(); begin = whole.find('\n', begin) + 1) {
    n_created_ += whole.substr(begin).starts_with(first_bytes_of(Record::kCreateTrial)) ? 1 : 0;
  }
}

StudyWriter::~StudyWriter() {
  if (is_new_ && !has_written_) unlink(path_.c_str());
  close(file_);
}

void StudyWriter::begin(const StudyHead& head) {
  add(record_of(Record::kCreateStudy,
                {{"study_name", head.name}, {"directions", Json::array({head.is_maximized ? 2 : 1})}}));
  add(record_of(Record::kStudyAttribute, {{"study_id", 0}, {"user_attr", {{kRunAttribute, head.run}}}}));
}

void StudyWriter::note(const Step& step, const StepResult& result, bool is_maximized) {
  for (; n_created_ <= step.trial; ++n_created_) {
    add(record_of(Record::kCreateTrial, {{"study_id", 0}, {"datetime_start", time_text()}}));
  }
  if (step.from == 0) {
    for (const Parameter& parameter : parameters_) {
      const auto value = step.setting.find(parameter.name);
      if (parameter.kind == Parameter::Kind::kFixed || value == step.setting.end()) continue;
      add(record_of_trial(Record::kParameter, step.trial,
                          {{"param_name", parameter.name},
                           {"param_value_internal", journal_value(parameter, *value)},
                           {"distribution", distribution_of(parameter).dump()}}));
    }
    add(record_of_trial(Record::kTrialAttribute, step.trial, {{"user_attr", {{kSettingAttribute, step.setting}}}}));
  }
  if (std::isfinite(result.loss)) {
    add(record_of_trial(Record::kIntermediateValue, step.trial,
                        {{"step", step.budget}, {"intermediate_value", is_maximized ? -result.loss : result.loss}}));
  }
  const std::string name = fmt::format("{}{}", kStepAttribute, step.budget);
  add(record_of_trial(Record::kTrialAttribute, step.trial, {{"user_attr", {{name, to_json(result)}}}}));
  write();
}

void StudyWriter::end(std::size_t trial, RecordedTrial::State state, double score) {
  add(record_of_trial(Record::kTrialState, trial,
                      {{"state", static_cast<int>(state)},
                       {"values", std::isfinite(score) ? Json::array({score}) : Json()},
                       {"datetime_complete", time_text()}}));
  write();
}

/// Unless another program has added to it meanwhile.
void StudyWriter::remove_part_of_step() {
  const std::size_t size = whole_size(text_);
  struct stat now = {};
  if (size == size_when_opened_ || fstat(file_, &now) != 0) return;
  if (static_cast<std::size_t>(now.st_size) != size_when_opened_) return;
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) fault_ = std::strerror(errno);
}

void StudyWriter::add(const Json& record) { waiting_ += record.dump() + "\n"; }

void StudyWriter::write() {
  if (!std::exchange(has_written_, true)) remove_part_of_step();
  while (!waiting_.empty()) {
    const ssize_t n = ::write(file_, waiting_.data(), waiting_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      fault_ = std::strerror(errno);
      return;
    }
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  fault_.clear();
}

}  // namespace podere::tune
