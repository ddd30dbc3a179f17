#include "podere/report/page.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_text.h"

namespace podere::report {
namespace {

constexpr int kVersion = 1;
constexpr const char* kFormat = "podere_report";
constexpr std::string_view kBeforeDocument = R"(<script type="application/json" id="podere-report">)";
constexpr std::string_view kAfterDocument = "</script>";
constexpr std::string_view kNoDocument = "null";

/// For a place within a page: no tag can begin in it.
std::string as_script(const Json& document) {
  std::string text;
  for (const char c : to_text(document)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

/// The document's text in a page, or all of the text.
std::string_view document_text(std::string_view text) {
  const std::size_t begin = text.find(kBeforeDocument);
  if (begin == std::string_view::npos) return text;
  text.remove_prefix(begin + kBeforeDocument.size());
  return text.substr(0, text.find(kAfterDocument));
}

/// Of a page or of a document alone.
Json document_in(const std::string& text, const std::string& name) {
  const std::string_view found = document_text(text);
  if (is_nested_deeper_than(found, kMaxJsonDepth)) throw_input_error("{}: is no report of Podere", name);
  Json document = Json::parse(found, nullptr, false);
  if (!document.is_object() || !document.contains(kFormat)) {
    throw_input_error("{}: is no report of Podere, or a damaged one: --report of podere train and evaluate makes one",
                      name);
  }
  const Json& version = document[kFormat];
  if (!version.is_number_integer() || version < 1) throw_input_error("{}: is a damaged report", name);
  if (version > kVersion) {
    throw_input_error("{}: is a report of a newer Podere, version {}; this one reads {}", name, to_text(version),
                      kVersion);
  }
  return document;
}

}  // namespace

Json document_of(std::vector<Json> runs, std::vector<Json> studies) {
  std::set<std::string> names;
  for (Json& run : runs) {
    const std::string name = run.at("name").get<std::string>();
    std::string unique = name;
    for (int i = 2; !names.insert(unique).second; ++i) unique = fmt::format("{} ({})", name, i);
    run["name"] = unique;
  }
  Json document = {{kFormat, kVersion}, {"version", PODERE_VERSION}, {"runs", std::move(runs)}};
  if (!studies.empty()) document["studies"] = std::move(studies);
  return document;
}

std::string html_of(const Json& document) {
  std::string page = kPageHtml;
  const std::string place = fmt::format("{}{}{}", kBeforeDocument, kNoDocument, kAfterDocument);
  const std::size_t begin = page.find(place);
  if (begin == std::string::npos) throw_error("the page of reports has no place for them");
  return page.replace(begin + kBeforeDocument.size(), kNoDocument.size(), as_script(document));
}

std::string served_page(const std::string& what) {
  constexpr std::string_view kConnectsToNone = "connect-src 'none'";
  std::string page = html_of(what);
  const std::size_t begin = page.find(kConnectsToNone);
  if (begin == std::string::npos) throw_error("the page of reports does not say what it may connect to");
  return page.replace(begin, kConnectsToNone.size(), "connect-src 'self'");
}

void check_is_file(const std::filesystem::path& path) {
  std::error_code unknown;  // what cannot be looked at cannot be read, which says why
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw_input_error("{}: is no file", path.string());
  }
}

std::vector<Json> runs_of(const std::string& text, const std::string& name) {
  const Json document = document_in(text, name);
  const auto runs = document.find("runs");
  if (runs == document.end() || !runs->is_array()) throw_input_error("{}: is a damaged report: it has no runs", name);
  for (const Json& run : *runs) {
    if (!run.is_object() || !run.contains("name") || !run["name"].is_string()) {
      throw_input_error("{}: is a damaged report: a run in it has no name", name);
    }
  }
  return {runs->begin(), runs->end()};
}

std::vector<Json> studies_of(const std::string& text, const std::string& name) {
  const Json document = document_in(text, name);
  const auto studies = document.find("studies");
  if (studies == document.end()) return {};
  if (!studies->is_array()) throw_input_error("{}: is a damaged report: its studies are no list", name);
  return {studies->begin(), studies->end()};
}

}  // namespace podere::report
